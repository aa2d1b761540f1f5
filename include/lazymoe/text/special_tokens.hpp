#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/types.hpp"
#include "vocabulary.hpp"

namespace lazymoe::text {

/// What control tokens written out in a text are.
enum class SpecialTokens : std::uint8_t {
  as_text,    ///< ordinary characters: for what users write
  recognise,  ///< the tokens themselves
};

/// Bytes [begin, end) of a text, or the token that stands there.
struct Fragment {
  std::size_t begin;
  std::size_t end;
  TokenId token = no_token;  ///< none: ordinary text

  friend bool operator==(const Fragment&, const Fragment&) = default;
};

/// Bytes [begin, end) of a text in which control tokens count.
struct TrustedRange {
  std::size_t begin;
  std::size_t end;
};

/// Finds tokens that are written out in text: user-defined ones everywhere, control and unknown ones where they lie
/// within one trusted range.
///
/// The longest token is cut out of the whole text first, then the next longest out of what is left, and so on.
/// @cost   a search of the text for each token of these kinds
/// @thread safe
class SpecialTokenFinder {
 public:
  /// The vocabulary is not kept: calls are given the same one again.
  explicit SpecialTokenFinder(const Vocabulary& vocabulary) {
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
      const auto token = static_cast<TokenId>(i);
      const TokenKind kind = vocabulary.kind(token);
      if (vocabulary.bytes(token).empty()) continue;
      if (kind == TokenKind::control || kind == TokenKind::unknown) longest_first_.push_back({token, false});
      if (kind == TokenKind::user_defined) longest_first_.push_back({token, true});
    }
    std::ranges::stable_sort(longest_first_, [&](const Special& a, const Special& b) {
      return vocabulary.bytes(a.token).size() > vocabulary.bytes(b.token).size();
    });
  }

  /// The fragments of `text` in order; together they are all of it.
  /// @pre `trusted` is ascending, its ranges neither overlap nor touch
  [[nodiscard]] std::vector<Fragment> cut(const Vocabulary& vocabulary, std::string_view text,
                                          std::span<const TrustedRange> trusted) const {
    std::vector<Fragment> fragments;
    if (!text.empty()) fragments.push_back({0, text.size()});
    for (const Special& special : longest_first_) {
      if (!special.everywhere && trusted.empty()) continue;
      const std::string_view wanted = vocabulary.bytes(special.token);
      const auto counts = [&](std::size_t begin) {
        return special.everywhere || is_within(trusted, begin, begin + wanted.size());
      };
      if (text.find(wanted) == std::string_view::npos) continue;

      std::vector<Fragment> finer;
      for (const Fragment& fragment : fragments) {
        if (fragment.token != no_token) {
          finer.push_back(fragment);
          continue;
        }
        const std::string_view searched = text.substr(0, fragment.end);
        std::size_t done = fragment.begin;
        for (auto i = searched.find(wanted, done); i != std::string_view::npos;) {
          if (!counts(i)) {
            i = searched.find(wanted, i + 1);
            continue;
          }
          if (i > done) finer.push_back({done, i});
          done = i + wanted.size();
          finer.push_back({i, done, special.token});
          i = searched.find(wanted, done);
        }
        if (done < fragment.end) finer.push_back({done, fragment.end});
      }
      fragments = std::move(finer);
    }
    return fragments;
  }

  /// The token of one of these kinds with just this text.
  [[nodiscard]] std::optional<TokenId> find(const Vocabulary& vocabulary, std::string_view text) const {
    const auto found = std::ranges::find_if(
        longest_first_, [&](const Special& special) { return vocabulary.bytes(special.token) == text; });
    if (found == longest_first_.end()) return std::nullopt;
    return found->token;
  }

 private:
  struct Special {
    TokenId token;
    bool everywhere;
  };

  [[nodiscard]] static bool is_within(std::span<const TrustedRange> trusted, std::size_t begin, std::size_t end) {
    const auto after = std::ranges::upper_bound(trusted, begin, {}, &TrustedRange::begin);
    return after != trusted.begin() && end <= std::ranges::prev(after)->end;
  }

  std::vector<Special> longest_first_;
};

}  // namespace lazymoe::text
