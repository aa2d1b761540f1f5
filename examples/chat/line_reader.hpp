#pragma once

#include <cerrno>
#include <cstddef>
#include <string>

#include <unistd.h>

namespace examples {

/// Lines of the standard input. Unlike std::getline it tells a signal from the end.
class LineReader {
 public:
  enum class Got { line, signal, end };

  /// The next line without its end, of either kind.
  Got next(std::string& line) {
    for (;;) {
      if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
        take(line, end, end + 1);
        return Got::line;
      }
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
  void take(std::string& line, std::size_t end, std::size_t next) {
    line.assign(pending_, 0, end);
    if (line.ends_with('\r')) line.pop_back();
    pending_.erase(0, next);
  }

  std::string pending_;
};

}  // namespace examples
