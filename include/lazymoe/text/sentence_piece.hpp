#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/types.hpp"
#include "utf8_stream.hpp"
#include "vocabulary.hpp"

namespace lazymoe::text {

/// Byte pair encoding by scores, as SentencePiece does it: a text starts as characters, spaces among them, and the
/// adjacent pair whose bytes are the token with the highest score is joined, leftmost first, until no pair is a token.
/// Characters that are no tokens are spelled by the tokens of their bytes.
///
/// @memory 4 bytes per token
/// @thread safe; scratch is the caller's
/// @source Kudo and Richardson: "SentencePiece", EMNLP 2018
class SentencePiece {
 public:
  /// Working room of encode(), kept between calls to save allocations.
  class Scratch {
    friend SentencePiece;
    struct Symbol {
      std::uint32_t begin;
      std::uint32_t bytes;  // 0: joined to an earlier one
      std::uint32_t previous;
      std::uint32_t next;
    };
    struct Pair {
      float score;
      std::uint32_t left;
      std::uint32_t bytes;  // of both: differs if one of them has grown since
    };
    std::vector<Symbol> symbols_;
    std::vector<Pair> heap_;
  };

  /// @pre   one score for each token; encode() is given the same vocabulary
  /// @param unknown stands for what not even bytes can spell
  SentencePiece(const Vocabulary& vocabulary, std::vector<float> scores, TokenId unknown)
      : scores_(std::move(scores)), unknown_(unknown) {
    bytes_.fill(no_token);
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
      const auto token = static_cast<TokenId>(i);
      if (vocabulary.kind(token) == TokenKind::byte && vocabulary.bytes(token).size() == 1) {
        bytes_[static_cast<unsigned char>(vocabulary.bytes(token).front())] = token;
      }
    }
  }

  /// Appends the tokens of `text`.
  /// @cost O(n log n) for n bytes
  /// @pre  `text` is valid UTF-8, shorter than 4 GiB
  void encode(const Vocabulary& vocabulary, std::string_view text, Scratch& scratch,
              std::vector<TokenId>& tokens) const {
    auto& symbols = scratch.symbols_;
    auto& heap = scratch.heap_;
    symbols.clear();
    heap.clear();
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t bytes = read_utf8(text.substr(begin)).bytes;
      const auto i = static_cast<std::uint32_t>(symbols.size());
      symbols.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(bytes), i - 1, i + 1});
      begin += bytes;
    }
    const auto n = static_cast<std::uint32_t>(symbols.size());

    // The top of the heap: the highest score, then the leftmost.
    const auto is_worse = [](const Scratch::Pair& a, const Scratch::Pair& b) {
      return a.score != b.score ? a.score < b.score : a.left > b.left;
    };
    const auto offer = [&](std::uint32_t left) {
      if (symbols[left].next == n) return;
      const std::uint32_t bytes = symbols[left].bytes + symbols[symbols[left].next].bytes;
      const auto token = vocabulary.find(text.substr(symbols[left].begin, bytes));
      if (!token) return;
      heap.push_back({scores_[static_cast<std::size_t>(*token)], left, bytes});
      std::push_heap(heap.begin(), heap.end(), is_worse);
    };
    for (std::uint32_t i = 0; i < n; ++i) offer(i);
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), is_worse);
      const Scratch::Pair best = heap.back();
      heap.pop_back();
      auto& left = symbols[best.left];
      if (left.bytes == 0 || left.next == n || left.bytes + symbols[left.next].bytes != best.bytes) continue;
      auto& right = symbols[left.next];
      left.bytes += std::exchange(right.bytes, 0);
      left.next = right.next;
      if (left.next != n) symbols[left.next].previous = best.left;
      offer(best.left);
      if (best.left != 0) offer(left.previous);
    }
    for (std::uint32_t i = 0; i < n; i = symbols[i].next) {
      emit(vocabulary, text.substr(symbols[i].begin, symbols[i].bytes), tokens);
    }
  }

 private:
  void emit(const Vocabulary& vocabulary, std::string_view symbol, std::vector<TokenId>& tokens) const {
    if (const auto token = vocabulary.find(symbol)) {
      tokens.push_back(*token);
      return;
    }
    for (const char c : symbol) {
      TokenId token = bytes_[static_cast<unsigned char>(c)];
      if (token == no_token) token = vocabulary.find({&c, 1}).value_or(unknown_);
      tokens.push_back(token);
    }
  }

  std::vector<float> scores_;
  std::array<TokenId, 256> bytes_;
  TokenId unknown_;
};

}  // namespace lazymoe::text
