#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include <lazymoe/core/error.hpp>
#include <lazymoe/core/units.hpp>
#include <lazymoe/generate/reply.hpp>
#include <lazymoe/instrument/counters.hpp>
#include <nlohmann/json.hpp>

#include "common/counters_json.hpp"

namespace examples {

/// Tokens and their speed, for people.
[[nodiscard]] inline std::string speed(std::size_t n, std::uint64_t ns) {
  const double per_second = ns == 0 ? 0.0 : static_cast<double>(n) * 1e9 / static_cast<double>(ns);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%zu tokens, %.1f/s", n, per_second);
  return text.data();
}

/// What a store did, for people; an eager source does nothing.
[[nodiscard]] inline std::string describe(const std::optional<lazymoe::instrument::StoreCounters>& counted) {
  if (!counted) return "all resident";
  const auto n = [](std::uint64_t count) { return std::to_string(count); };
  std::string text = n(counted->resident()) + " hits, " + n(counted->misses + counted->joined) + " misses, ";
  if (const auto guessed = counted->prefetched + counted->prefetched_late + counted->prefetched_unused; guessed > 0) {
    text += n(counted->prefetched) + " prefetched in time, " + n(counted->prefetched_late) + " late, " +
            n(counted->prefetched_unused) + " for nothing, ";
  }
  return text + "read " + lazymoe::format_bytes(counted->bytes_read) + ", waited " + n(counted->wait_ns / 1'000'000) +
         " ms, overlapped " + n(counted->overlapped_ns() / 1'000'000) + " ms";
}

/// The last row of a terminal, kept apart from what scrolls above it, while an answer is being written. Does nothing
/// where the standard error is no terminal.
class StatusLine {
 public:
  explicit StatusLine(bool wanted) {
    winsize size{};
    if (!wanted || ::isatty(STDERR_FILENO) == 0 || ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) return;
    if (size.ws_row < 3 || size.ws_col < 20) return;
    rows_ = size.ws_row;
    columns_ = size.ws_col;
    // A line is freed below the cursor; setting the region moves the cursor, so it is saved.
    std::cerr << "\n\033[A\0337\033[1;" << rows_ - 1 << "r\0338" << std::flush;
    for (std::size_t i = 0; i < signals.size(); ++i) guard(signals[i], before_[i]);
  }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine() {
    if (rows_ == 0) return;
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
    std::cerr << "\0337\033[r\033[" << rows_ << ";1H\033[K\0338" << std::flush;
  }

  /// Shows what text() returns, a few times a second.
  template <class Text>
  void update(Text&& text) {
    const auto now = std::chrono::steady_clock::now();
    if (rows_ == 0 || now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    std::cerr << "\0337\033[" << rows_ << ";1H\033[K\033[2m" << std::string(text()).substr(0, columns_ - 1)
              << "\033[22m\0338" << std::flush;
  }

 private:
  static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};

  /// Has a signal that would end the program give the whole terminal back first.
  static void guard(int signal, struct sigaction& before) {
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_DFL) return;
    struct sigaction action = {};
    action.sa_handler = [](int number) {
      constexpr std::string_view whole = "\0337\033[r\0338\n";
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, whole.data(), whole.size());
      ::raise(number);
    };
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // so that raising it ends the program when this returns
    ::sigaction(signal, &action, nullptr);
  }

  std::array<struct sigaction, signals.size()> before_{};
  unsigned rows_ = 0;
  unsigned columns_ = 0;
  std::chrono::steady_clock::time_point next_{};
};

/// A file of JSON lines, one for each answer: its tokens and times, what the store did, and what it did by layer.
class StatsFile {
 public:
  /// @param path empty: none
  explicit StatsFile(const std::string& path) : path_(path) {
    if (path.empty()) return;
    out_.open(path, std::ios::app);
    check();
  }

  [[nodiscard]] bool wanted() const { return !path_.empty(); }

  /// @param before, after of the store; an eager source has none
  void write(const lazymoe::Reply& reply, const std::optional<lazymoe::instrument::LayeredCounters>& before,
             const std::optional<lazymoe::instrument::LayeredCounters>& after) {
    nlohmann::ordered_json line{{"prompt_tokens", reply.n_prompt},   {"prompt_tokens_reused", reply.n_reused},
                                {"prompt_ns", reply.prompt_ns},      {"answer_tokens", reply.n_generated},
                                {"answer_ns", reply.generate_ns}};
    if (before && after) {
      add_counters(line["store"], after->total - before->total);
      for (std::size_t i = 0; i < after->layers.size(); ++i) {
        add_counters(line["layers"].emplace_back(), after->layers[i] - before->layers[i]);
      }
    }
    out_ << line << std::endl;
    check();
  }

 private:
  void check() const {
    if (!out_) throw lazymoe::Error(lazymoe::Errc::io, path_ + ": cannot write");
  }

  std::string path_;
  std::ofstream out_;
};

}  // namespace examples
