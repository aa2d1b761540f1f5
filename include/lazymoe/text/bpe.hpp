#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../core/types.hpp"
#include "detail/flat_index.hpp"
#include "vocabulary.hpp"

namespace lazymoe::text {

/// Byte pair encoding: a piece starts as bytes, and the adjacent pair that stands first in the list of merges is
/// joined, leftmost first, until no pair is in the list.
///
/// Vocabularies without such a list have their merges from the order of their tokens (see add_merges_of_tokens()).
/// @memory about 20 bytes per merge
/// @thread safe; scratch is the caller's
class Bpe {
 public:
  /// Working room of encode(), kept between calls to save allocations.
  class Scratch {
    friend Bpe;
    struct Symbol {
      std::uint32_t id;
      std::uint32_t rank;  // of the merge with the next symbol
      std::uint32_t previous;
      std::uint32_t next;
    };
    std::vector<Symbol> symbols_;
    std::vector<std::uint64_t> heap_;  // rank, place: the lowest rank first, then the leftmost
  };

  /// Knows the bytes only; add_merge() follows, up to `n_merges` times, with the same vocabulary.
  Bpe(const Vocabulary& vocabulary, std::size_t n_merges) : n_tokens_(vocabulary.size()), index_(n_merges) {
    merges_.reserve(n_merges);
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const char text = static_cast<char>(byte);
      bytes_[byte] = symbol(vocabulary, {&text, 1});
    }
  }

  /// Adds the merge that comes after all others; if the pair is there already, the first one counts.
  void add_merge(const Vocabulary& vocabulary, std::string_view left, std::string_view right) {
    const Merge merge{symbol(vocabulary, left), symbol(vocabulary, right),
                      symbol(vocabulary, std::string(left).append(right))};
    if (position(merge.left, merge.right) == none) {
      index_.insert(hash(merge.left, merge.right), static_cast<std::uint32_t>(merges_.size()));
      merges_.push_back(merge);
    }
  }

  /// The number of merges that add_merges_of_tokens() finds.
  [[nodiscard]] static std::size_t count_merges_of_tokens(const Vocabulary& vocabulary) {
    std::size_t n = 0;
    for_each_split(vocabulary, [&n](std::string_view, std::string_view) { ++n; });
    return n;
  }

  /// Lets any two tokens merge whose bytes together are a token, the lowest id of that token first.
  /// @pre no other merges were added
  /// @source tiktoken, whose ranks are the ids
  void add_merges_of_tokens(const Vocabulary& vocabulary) {
    ranks_by_id_ = true;
    for_each_split(vocabulary,
                   [&](std::string_view left, std::string_view right) { add_merge(vocabulary, left, right); });
  }

  /// Appends the tokens of one piece. Bytes that no token stands for are left out.
  /// @cost O(n log n) for a piece of n bytes
  /// @pre  the piece is shorter than 4 GiB
  void encode(std::string_view piece, Scratch& scratch, std::vector<TokenId>& tokens) const {
    if (piece.empty()) return;
    auto& symbols = scratch.symbols_;
    auto& heap = scratch.heap_;
    const auto size = static_cast<std::uint32_t>(piece.size());
    symbols.resize(size);
    heap.clear();
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint32_t id = bytes_[static_cast<unsigned char>(piece[i])];
      symbols[i] = {.id = id, .rank = none, .previous = i - 1, .next = i + 1};
    }
    for (std::uint32_t i = 0; i + 1 < size; ++i) {
      symbols[i].rank = rank(symbols[i].id, symbols[i + 1].id);
      if (symbols[i].rank != none) heap.push_back(std::uint64_t{symbols[i].rank} << 32 | i);
    }
    std::ranges::make_heap(heap, std::greater<>());

    const auto update = [&](std::uint32_t place) {
      auto& symbol = symbols[place];
      symbol.rank = symbol.next < size ? rank(symbol.id, symbols[symbol.next].id) : none;
      if (symbol.rank == none) return;
      heap.push_back(std::uint64_t{symbol.rank} << 32 | place);
      std::ranges::push_heap(heap, std::greater<>());
    };
    while (!heap.empty()) {
      std::ranges::pop_heap(heap, std::greater<>());
      const std::uint64_t best = heap.back();
      heap.pop_back();
      const auto place = static_cast<std::uint32_t>(best);
      auto& left = symbols[place];
      if (left.rank != best >> 32) continue;  // stale: one of the two has been merged since
      auto& right = symbols[left.next];
      left.id = ranks_by_id_ ? left.rank : merges_[left.rank].merged;
      left.next = right.next;
      right.rank = none;
      if (left.next < size) symbols[left.next].previous = place;
      update(place);
      if (place != 0) update(left.previous);
    }
    for (std::uint32_t i = 0; i < size; i = symbols[i].next) emit(symbols[i].id, tokens);
  }

 private:
  static constexpr std::uint32_t none = detail::FlatIndex::none;

  // Symbols are token ids, and past the vocabulary texts that merges speak of but no token has.
  struct Merge {
    std::uint32_t left;
    std::uint32_t right;
    std::uint32_t merged;
  };

  [[nodiscard]] static std::uint64_t hash(std::uint32_t left, std::uint32_t right) noexcept {
    return detail::mix_bits(std::uint64_t{left} << 32 | right);
  }

  /// Calls `visit(left, right)` for each way to cut a token into two others, in order of the ids.
  template <class Visit>
  static void for_each_split(const Vocabulary& vocabulary, Visit visit) {
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
      const auto token = static_cast<TokenId>(i);
      const std::string_view bytes = vocabulary.bytes(token);
      if (vocabulary.find(bytes) != token) continue;  // merging cannot produce it
      for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
        const std::string_view left = bytes.substr(0, cut);
        const std::string_view right = bytes.substr(cut);
        if (vocabulary.find(left) && vocabulary.find(right)) visit(left, right);
      }
    }
  }

  /// Merges with a lower rank go first.
  [[nodiscard]] std::uint32_t rank(std::uint32_t left, std::uint32_t right) const {
    const std::uint32_t found = position(left, right);
    return found == none || !ranks_by_id_ ? found : merges_[found].merged;
  }

  [[nodiscard]] std::uint32_t position(std::uint32_t left, std::uint32_t right) const {
    return index_.find(hash(left, right),
                       [&](std::uint32_t i) { return merges_[i].left == left && merges_[i].right == right; });
  }

  [[nodiscard]] std::uint32_t symbol(const Vocabulary& vocabulary, std::string_view text) {
    if (const auto token = vocabulary.find(text)) return static_cast<std::uint32_t>(*token);
    const auto next = static_cast<std::uint32_t>(n_tokens_ + tokenless_.size());
    const auto [found, is_new] = tokenless_ids_.emplace(text, next);
    if (is_new) tokenless_.emplace_back(text);
    return found->second;
  }

  void emit(std::uint32_t symbol, std::vector<TokenId>& tokens) const {
    if (symbol < n_tokens_) {
      tokens.push_back(static_cast<TokenId>(symbol));
      return;
    }
    for (const char c : tokenless_[symbol - n_tokens_]) {
      const std::uint32_t byte = bytes_[static_cast<unsigned char>(c)];
      if (byte < n_tokens_) tokens.push_back(static_cast<TokenId>(byte));
    }
  }

  std::size_t n_tokens_;
  detail::FlatIndex index_;
  std::vector<Merge> merges_;  // position: rank, unless ids are
  bool ranks_by_id_ = false;
  std::array<std::uint32_t, 256> bytes_{};
  std::vector<std::string> tokenless_;
  std::unordered_map<std::string, std::uint32_t> tokenless_ids_;
};

}  // namespace lazymoe::text
