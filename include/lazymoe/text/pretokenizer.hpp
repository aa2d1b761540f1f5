#pragma once

#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8  // the code below says _8 itself and works with any
#endif
#include <pcre2.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../core/error.hpp"
#include "split_rules.hpp"

namespace lazymoe::text {

namespace detail {

/// `regex` in the words of PCRE2. \s and \S are spelled out as Unicode White_Space, which the published expressions
/// mean by them: PCRE2 counts U+180E as space too. Outside of brackets \s becomes a class of its own. \p{Han} is the
/// script of a character, not the scripts that share it.
[[nodiscard]] inline std::string spelled_for_pcre2(std::string_view regex) {
  constexpr std::string_view spaces =
      R"(\x{9}-\x{D}\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
  constexpr std::string_view han = R"(\p{Han})";
  constexpr bool shares_scripts = PCRE2_MAJOR > 10 || PCRE2_MINOR >= 40;
  std::string result;
  bool in_class = false;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    const char c = regex[i];
    if (c != '\\' || i + 1 == regex.size()) {
      if (c == '[') in_class = true;
      if (c == ']') in_class = false;
      result += c;
      continue;
    }
    if (shares_scripts && regex.substr(i).starts_with(han)) {
      result += R"(\p{sc:Han})";
      i += han.size() - 1;
      continue;
    }
    const char escaped = regex[++i];
    if (escaped == 's' && in_class) {
      result += spaces;
    } else if (escaped == 's' || (escaped == 'S' && !in_class)) {
      result.append(escaped == 's' ? "[" : "[^").append(spaces).append("]");
    } else {
      result += c;
      result += escaped;
    }
  }
  return result;
}

/// Calls a C function of PCRE2 as the deleter of a unique_ptr.
template <auto Free>
struct Pcre2Free {
  template <class T>
  void operator()(T* p) const noexcept {
    Free(p);
  }
};

/// A compiled regular expression over valid UTF-8 with Unicode classes.
/// @thread safe: what a search writes to is made by matches()
class Regex {
 public:
  explicit Regex(std::string_view published) {
    const std::string regex = spelled_for_pcre2(published);
    int error = 0;
    std::size_t place = 0;
    code_.reset(pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(regex.data()), regex.size(), PCRE2_UTF | PCRE2_UCP,
                                &error, &place, nullptr));
    if (!code_) {
      throw Error(Errc::unsupported_tokenizer, "regular expression " + regex + ": PCRE2 error " +
                                                   std::to_string(error) + " at byte " + std::to_string(place));
    }
    // Where there is no JIT, the interpreter finds the same matches more slowly.
    pcre2_jit_compile_8(code_.get(), PCRE2_JIT_COMPLETE);

    // A run of spaces is tried at every length: the default limits would refuse texts of some megabytes.
    limits_.reset(pcre2_match_context_create_8(nullptr));
    if (!limits_) throw std::bad_alloc();
    constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();
    pcre2_set_match_limit_8(limits_.get(), unlimited);
    pcre2_set_depth_limit_8(limits_.get(), unlimited);
    pcre2_set_heap_limit_8(limits_.get(), unlimited);
  }

  using Matches = std::unique_ptr<pcre2_match_data_8, Pcre2Free<pcre2_match_data_free_8>>;

  /// Room for the result of find(), one for each thread.
  [[nodiscard]] Matches matches() const {
    Matches room(pcre2_match_data_create_from_pattern_8(code_.get(), nullptr));
    if (!room) throw std::bad_alloc();
    return room;
  }

  /// The first match at or after byte `from`; an empty view when there is none.
  /// @pre `text` is valid UTF-8, `from` a border of characters
  [[nodiscard]] std::string_view find(std::string_view text, std::size_t from, const Matches& room) const {
    const auto search = [&](std::uint32_t options) {
      return pcre2_match_8(code_.get(), reinterpret_cast<PCRE2_SPTR8>(text.data()), text.size(), from,
                           PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY | options, room.get(), limits_.get());
    };
    int found = search(0);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = search(PCRE2_NO_JIT);
    if (found == PCRE2_ERROR_NOMATCH) return {};
    if (found < 0) {
      throw Error(Errc::bad_argument, "text of " + std::to_string(text.size()) + " bytes: PCRE2 error " +
                                          std::to_string(found) + " while splitting it into words");
    }
    const std::size_t* const ends = pcre2_get_ovector_pointer_8(room.get());
    return text.substr(ends[0], ends[1] - ends[0]);
  }

 private:
  std::unique_ptr<pcre2_code_8, Pcre2Free<pcre2_code_free_8>> code_;
  std::unique_ptr<pcre2_match_context_8, Pcre2Free<pcre2_match_context_free_8>> limits_;
};

}  // namespace detail

/// Cuts text into the pieces inside which a byte-level BPE may merge.
///
/// @cost   linear in the text for all families of the table
/// @thread safe
class Pretokenizer {
 public:
  /// @throws Error{unsupported_tokenizer} for a name outside the table
  explicit Pretokenizer(std::string_view name) : Pretokenizer(split_rule(name)) {}

  explicit Pretokenizer(const SplitRule& rule) {
    for (const std::string_view regex : rule.regexes) {
      if (!regex.empty()) regexes_.emplace_back(regex);
    }
  }

  /// Calls `sink(piece)` for the pieces of `text` in order; together they are all of it.
  /// @pre `text` is valid UTF-8
  template <class Sink>
  void split(std::string_view text, Sink&& sink) const {
    std::vector<detail::Regex::Matches> rooms;
    for (const detail::Regex& regex : regexes_) rooms.push_back(regex.matches());
    split(text, 0, rooms, sink);
  }

 private:
  // Each expression sees only its piece, as if the piece were the whole text. What lies between two matches is a
  // piece as well.
  template <class Sink>
  void split(std::string_view text, std::size_t level, std::span<const detail::Regex::Matches> rooms,
             Sink& sink) const {
    if (level == regexes_.size()) {
      sink(text);
      return;
    }
    std::size_t done = 0;
    while (done < text.size()) {
      const std::string_view match = regexes_[level].find(text, done, rooms[level]);
      const std::size_t begin = match.empty() ? text.size() : static_cast<std::size_t>(match.data() - text.data());
      if (begin > done) split(text.substr(done, begin - done), level + 1, rooms, sink);
      if (!match.empty()) split(match, level + 1, rooms, sink);
      done = begin + match.size();
    }
  }

  std::vector<detail::Regex> regexes_;
};

}  // namespace lazymoe::text
