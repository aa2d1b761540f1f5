#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "detail/flat_index.hpp"

namespace lazymoe::text {

/// What a token is for.
/// @source llama.h, enum llama_token_type
enum class TokenKind : std::uint8_t { undefined, normal, unknown, control, user_defined, unused, byte };

/// The tokens of a model: id -> bytes and kind, and back from bytes to id for those that merging can produce.
///
/// @memory text bytes + about 20 bytes per token
class Vocabulary {
 public:
  explicit Vocabulary(std::size_t n_tokens) : index_(n_tokens) {
    ends_.reserve(n_tokens);
    kinds_.reserve(n_tokens);
  }

  /// Gives the next id. A `mergeable` token is known to find(), the first one if several have the same bytes.
  /// @pre no more calls than the constructor was told
  void add(std::string_view bytes, TokenKind kind, bool mergeable) {
    if (mergeable && !find(bytes)) index_.insert(hash(bytes), static_cast<std::uint32_t>(size()));
    bytes_ += bytes;
    ends_.push_back(bytes_.size());
    kinds_.push_back(kind);
  }

  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }

  [[nodiscard]] bool contains(TokenId token) const noexcept {
    return token >= 0 && static_cast<std::size_t>(token) < size();
  }

  /// @pre contains(token), also below
  [[nodiscard]] std::string_view bytes(TokenId token) const {
    LAZYMOE_EXPECTS(contains(token));
    const auto i = static_cast<std::size_t>(token);
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }

  [[nodiscard]] TokenKind kind(TokenId token) const {
    LAZYMOE_EXPECTS(contains(token));
    return kinds_[static_cast<std::size_t>(token)];
  }

  [[nodiscard]] std::optional<TokenId> find(std::string_view text) const {
    const std::uint32_t found =
        index_.find(hash(text), [&](std::uint32_t position) { return bytes(static_cast<TokenId>(position)) == text; });
    if (found == detail::FlatIndex::none) return std::nullopt;
    return static_cast<TokenId>(found);
  }

 private:
  // Mixed once more because the table looks at the low bits only.
  [[nodiscard]] static std::uint64_t hash(std::string_view text) noexcept {
    return detail::mix_bits(std::hash<std::string_view>()(text));
  }

  std::string bytes_;  // of all tokens, back to back
  std::vector<std::size_t> ends_;
  std::vector<TokenKind> kinds_;
  detail::FlatIndex index_;
};

}  // namespace lazymoe::text
