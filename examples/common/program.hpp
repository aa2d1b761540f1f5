#pragma once

#include <exception>
#include <iostream>
#include <optional>

#include <CLI/CLI.hpp>

namespace examples {

/// Reads the command line; an exit code if the program shall end here.
[[nodiscard]] inline std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& end) {
    return app.exit(end) == 0 ? 0 : 1;  // --help is no error
  }
}

/// Runs `program`; an error becomes one sentence and exit code 1.
template <class Program>
int guarded(Program&& program) {
  try {
    return program();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

}  // namespace examples
