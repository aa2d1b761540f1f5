#pragma once

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string>

#include <poll.h>
#include <unistd.h>

namespace examples {

/// Lines of the standard input. Unlike std::getline it tells a signal from the end.
class LineReader {
 public:
  enum class Got { line, signal, end };

  /// The next line without its end, of either kind.
  /// @param interrupted set by the handler of SIGINT; a signal is told once
  Got next(std::string& line, std::atomic<bool>& interrupted) {
    for (;;) {
      if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
        take(line, end, end + 1);
        return Got::line;
      }
      if (!wait_for_input(interrupted)) return Got::signal;
      char buffer[4096];
      const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof(buffer));
      if (n < 0 && errno == EINTR) return Got::signal;
      if (n > 0) {
        pending_.append(buffer, static_cast<std::size_t>(n));
        continue;
      }
      if (pending_.empty()) return Got::end;
      take(line, pending_.size(), pending_.size());
      return Got::line;
    }
  }

 private:
  /// False on SIGINT, also on one that came just before: it is held back until poll waits.
  static bool wait_for_input(std::atomic<bool>& interrupted) {
    sigset_t held;
    sigset_t before;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &held, &before);
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (!interrupted) ::ppoll(&input, 1, nullptr, &before);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return !interrupted.exchange(false);
  }

  void take(std::string& line, std::size_t end, std::size_t next) {
    line.assign(pending_, 0, end);
    if (line.ends_with('\r')) line.pop_back();
    pending_.erase(0, next);
  }

  std::string pending_;
};

}  // namespace examples
