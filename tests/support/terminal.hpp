#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "program.hpp"

namespace lazymoe::test {

/// An example program on a terminal of its own.
class Terminal {
 public:
  /// @param rows of 80 columns; 0: the terminal does not say its size
  Terminal(const std::string& program, std::vector<std::string> arguments, unsigned short rows = 0) {
    const ProgramCall call(program, std::move(arguments));
    master_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0) {
      throw std::runtime_error("cannot make a terminal");
    }
    const winsize size{.ws_row = rows, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    if (rows > 0) ::ioctl(master_, TIOCSWINSZ, &size);
    child_ = ::fork();
    if (child_ < 0) throw std::runtime_error("cannot fork");
    if (child_ == 0) {
      ::setsid();
      const int slave = ::open(::ptsname(master_), O_RDWR);  // becomes the controlling terminal
      // Keys are not echoed: an echo could fall between any two bytes of what the program says.
      termios mode{};
      ::tcgetattr(slave, &mode);
      mode.c_lflag &= ~static_cast<tcflag_t>(ECHO);
      ::tcsetattr(slave, TCSANOW, &mode);
      for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(slave, standard);
      if (slave > STDERR_FILENO) ::close(slave);
      call.become();
    }
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    ::close(master_);
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }

  /// "\x03" is Ctrl-C, "\x04" Ctrl-D.
  void type(std::string_view keys) {
    if (::write(master_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) {
      throw std::runtime_error("cannot write to the terminal");
    }
  }

  /// Waits until `text` appears on the screen, and returns all up to its end that was not yet returned.
  /// @throws std::runtime_error after a minute
  std::string wait_for(std::string_view text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    for (;;) {
      if (const std::size_t at = screen_.find(text); at != std::string::npos) {
        std::string seen = screen_.substr(0, at + text.size());
        screen_.erase(0, seen.size());
        return seen;
      }
      if (std::chrono::steady_clock::now() > deadline || !read_some()) {
        throw std::runtime_error("no '" + std::string(text) + "' on the terminal, but: " + screen_);
      }
    }
  }

  /// The exit code, when the program has ended by itself.
  int wait() {
    while (read_some()) {
    }
    int status = 0;
    ::waitpid(std::exchange(child_, -1), &status, 0);
    return detail::exit_code(status);
  }

 private:
  /// False when nothing more will come.
  bool read_some() {
    pollfd readable{.fd = master_, .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, 1000) == 0) return true;
    std::array<char, 4096> buffer{};
    const ssize_t n = ::read(master_, buffer.data(), buffer.size());
    if (n <= 0) return false;
    screen_.append(buffer.data(), static_cast<std::size_t>(n));
    return true;
  }

  int master_ = -1;
  pid_t child_ = -1;
  std::string screen_;
};

}  // namespace lazymoe::test
