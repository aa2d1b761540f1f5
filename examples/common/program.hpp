#pragma once

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

namespace examples {

/// One line whatever a file made part of it: names in files may hold line ends and worse.
[[nodiscard]] inline std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = ' ';
  }
  return line;
}

/// Reads the command line; an exit code if the program shall end here.
[[nodiscard]] inline std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& end) {
    if (end.get_exit_code() == 0) return app.exit(end);  // --help
    std::cerr << one_line(end.what()) << " (--help lists the options)\n";
    return 1;
  }
}

/// Refuses numbers outside a range that the help need not spell out.
[[nodiscard]] inline CLI::Validator within(int low, int high) { return CLI::Range(low, high).description(""); }

/// Wants a number without sign or fraction; what CLI11 reads into an unsigned one may have both.
[[nodiscard]] inline CLI::Validator natural() {
  return {[](const std::string& text) -> std::string {
            std::uint64_t n = 0;
            const char* const end = text.data() + text.size();
            const auto [stop, failure] = std::from_chars(text.data(), end, n);
            if (failure == std::errc{} && stop == end) return {};
            return "'" + text + "' is not a whole number from 0 to " + std::to_string(~std::uint64_t{0});
          },
          ""};
}

/// Keeps files that are opened later from taking the places of standard streams that were closed: these end at once, and
/// take nothing.
inline void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF) (void)::open("/dev/null", O_RDONLY);  // gets the lowest number
  }
}

/// Runs `program`; an error becomes one sentence on the error output and exit code 1.
template <class Program>
int guarded(Program&& program) {
  occupy_standard_streams();
  try {
    const int exit_code = program();
    if (!std::cout.flush()) {
      std::cerr << "standard output: cannot write\n";
      return 1;
    }
    return exit_code;
  } catch (const std::bad_alloc&) {
    std::cerr << "there is not enough memory\n";
  } catch (const std::exception& error) {
    std::cerr << one_line(error.what()) << '\n';
  }
  return 1;
}

}  // namespace examples
