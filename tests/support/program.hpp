#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lazymoe::test {

/// How a program ended.
struct Ended {
  std::string out;
  std::string err;
  int exit_code = -1;          ///< 128 and more: killed by a signal, as a shell says it
  std::uint64_t peak_rss = 0;  ///< bytes
};

/// What a program is given besides its arguments.
struct Given {
  std::string input = {};
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::string output_file = {};  ///< instead of `out`
  std::vector<int> closed = {};  ///< standard streams that it does not have
};

/// An example program to start: becomes it in a forked child.
class ProgramCall {
 public:
  ProgramCall(const std::string& name, std::vector<std::string> arguments, Given given = {})
      : path_(std::string(LAZYMOE_PROGRAMS_DIR) + "/" + name),
        arguments_(std::move(arguments)),
        given_(std::move(given)) {
    argv_.push_back(path_.data());
    for (std::string& argument : arguments_) argv_.push_back(argument.data());
    argv_.push_back(nullptr);
  }

  [[nodiscard]] const Given& given() const noexcept { return given_; }

  /// In the child; a program that hangs ends by itself after some minutes.
  [[noreturn]] void become() const {
    for (const char* name : {"LAZYMOE_MODEL", "LAZYMOE_EXPERTS", "LAZYMOE_BUDGET"}) ::unsetenv(name);
    for (const auto& [name, value] : given_.environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::alarm(300);
    ::execv(path_.c_str(), argv_.data());
    ::_exit(127);
  }

 private:
  std::string path_;
  std::vector<std::string> arguments_;
  Given given_;
  std::vector<char*> argv_;
};

namespace detail {

/// A file without a name that takes what a program says, or tells it something.
class Scratch {
 public:
  Scratch() : file_(std::tmpfile()) {
    if (file_ == nullptr) throw std::runtime_error("cannot make a temporary file");
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::fclose(file_); }

  [[nodiscard]] int descriptor() const { return ::fileno(file_); }
  void write(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), file_);
    std::rewind(file_);
  }
  [[nodiscard]] std::string read() {
    std::rewind(file_);
    std::string text;
    std::array<char, 4096> buffer{};
    for (std::size_t n = 1; n > 0; text.append(buffer.data(), n))
      n = std::fread(buffer.data(), 1, buffer.size(), file_);
    return text;
  }

 private:
  std::FILE* file_;
};

[[nodiscard]] inline int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace detail

/// Runs an example program to its end.
[[nodiscard]] inline Ended run_program(const std::string& name, std::vector<std::string> arguments, Given given = {}) {
  const ProgramCall call(name, std::move(arguments), std::move(given));
  detail::Scratch in;
  detail::Scratch out;
  detail::Scratch err;
  in.write(call.given().input);
  ::malloc_trim(0);  // a child's peak begins with the memory of the process it was forked from
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    const std::string& file = call.given().output_file;
    ::dup2(in.descriptor(), STDIN_FILENO);
    ::dup2(file.empty() ? out.descriptor() : ::open(file.c_str(), O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    ::dup2(err.descriptor(), STDERR_FILENO);
    for (const int stream : call.given().closed) ::close(stream);
    call.become();
  }
  int status = 0;
  rusage used{};
  if (::wait4(child, &status, 0, &used) != child) throw std::runtime_error("cannot wait for " + name);
  return {.out = out.read(),
          .err = err.read(),
          .exit_code = detail::exit_code(status),
          .peak_rss = static_cast<std::uint64_t>(used.ru_maxrss) * 1024};
}

[[nodiscard]] inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace lazymoe::test
