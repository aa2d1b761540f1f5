#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../core/buffer.hpp"
#include "../../core/bytes.hpp"
#include "../../core/contract.hpp"
#include "../../core/error.hpp"
#include "../../core/types.hpp"
#include "../../experts/expert_map.hpp"
#include "../../storage/storage.hpp"
#include "../checksums.hpp"
#include "../representation.hpp"
#include "../slot_plan.hpp"
#include "../view.hpp"
#include "expert_reads.hpp"

namespace lazymoe::store::detail {

/// What one read brought: a matrix or two, and where they belong in a view.
struct PartView {
  struct Matrix {
    quant::PackedMatrix ExpertView::*member = nullptr;
    quant::PackedMatrix matrix;
  };
  std::array<Matrix, 2> matrices{};
  std::size_t n = 0;

  void put_into(ExpertView& view) const noexcept {
    for (std::size_t i = 0; i < n; ++i) view.*matrices[i].member = matrices[i].matrix;
  }
};

/// Reads parts of experts into slots, in the representation that is asked for, and knows how large slots must be for
/// it. Knows neither locks nor who waits.
///
/// @thread safe
template <storage::StoragePolicy Storage, RepresentationPolicy Representation>
class ExpertReader {
 public:
  /// @param checksums of experts read before, or null: none are compared
  ExpertReader(const experts::ExpertMap& map, Storage storage, Checksums* checksums)
      : map_(&map), storage_(std::move(storage)), checksums_(checksums), in_place_(in_place(storage_, map)) {}

  /// Whether the storage returns views of its own that can be used as they are, so that slots need no memory.
  [[nodiscard]] static bool in_place(Storage& storage, const experts::ExpertMap& map) noexcept {
    if constexpr (!AsInFile<Representation>) return false;
    for (LayerIndex layer = 0; layer < map.space().layers; ++layer) {
      if (map.has_experts(layer)) return storage.footprint(map.layer(layer).gate.slice(0)) == 0;
    }
    return true;
  }
  [[nodiscard]] bool in_place() const noexcept { return in_place_; }

  /// Bytes of the slot of one expert of a layer.
  [[nodiscard]] static SlotPlan::SlotBytes slot_bytes(Storage& storage) {
    if constexpr (AsInFile<Representation>) {
      return [padding = storage::padding(storage)](const experts::LayerExperts& layer) {
        return SlotPlan::slot_bytes_of(layer, padding);
      };
    } else {
      return [](const experts::LayerExperts& layer) {
        Bytes total = 0;
        for (const auto* matrix : {&layer.gate, &layer.up, &layer.down}) total += converted(*matrix);
        return total;
      };
    }
  }
  [[nodiscard]] SlotPlan::SlotBytes slot_bytes() { return slot_bytes(storage_); }

  [[nodiscard]] ExpertReads reads(ExpertKey key) const noexcept {
    return {map_->layer(map_->space().layer(key)), map_->space().expert(key)};
  }

  /// Whether begin(), next() and poll() are to be used.
  [[nodiscard]] bool asynchronous() const noexcept {
    return AsInFile<Representation> && storage::asynchronous(storage_);
  }

  /// Begins a read, which next() or poll() will tell of by its tag.
  /// @pre    asynchronous()
  /// @throws Error{io}
  void begin(const ExpertReads& reads, std::size_t i, std::span<std::byte> slot, std::uint64_t tag) {
    if constexpr (storage::AsyncStorage<Storage>) storage_.submit(reads[i], reads.place(storage_, i, slot), tag);
  }

  /// Blocks until a read is over.
  /// @pre asynchronous(), and one is under way
  [[nodiscard]] storage::Completed next() {
    if constexpr (storage::AsyncStorage<Storage>) return storage_.next();
    return {};
  }

  /// A read that is over, if there is one.
  /// @pre asynchronous()
  [[nodiscard]] std::optional<storage::Completed> poll() {
    if constexpr (storage::AsyncStorage<Storage>) return storage_.poll();
    return std::nullopt;
  }

  /// What a read that is over brought.
  /// @throws Error{io}, also if the bytes are not those of the last time
  [[nodiscard]] PartView end(const ExpertReads& reads, ExpertKey key, std::size_t i, storage::Completed completed) {
    if (completed.failure != nullptr) std::rethrow_exception(std::move(completed.failure));
    return part(reads, i, check(reads, key, i, completed.bytes));
  }

  /// Reads.
  /// @throws Error{io}, also if the bytes are not those of the last time
  [[nodiscard]] PartView read(const ExpertReads& reads, ExpertKey key, std::size_t i, std::span<std::byte> slot) {
    if constexpr (AsInFile<Representation>) {
      return part(reads, i, check(reads, key, i, storage_.fetch(reads[i], reads.place(storage_, i, slot))));
    } else {
      AlignedBuffer staging = take_staging(static_cast<std::size_t>(storage_.footprint(reads[i])));
      PartView result = part(reads, i, check(reads, key, i, storage_.fetch(reads[i], staging.bytes())));
      for (std::size_t m = 0; m < result.n; ++m) convert(result.matrices[m], map_->layer(map_->space().layer(key)), slot);
      give_back(std::move(staging));
      return result;
    }
  }

  /// Has a storage that takes hints bring what it will return views of nearer.
  void will_need(const ExpertReads& reads) noexcept {
    if constexpr (storage::HintedStorage<Storage>) {
      for (std::size_t i = 0; i < reads.size(); ++i) storage_.will_need(reads[i]);
    } else {
      (void)reads;
    }
  }

  /// Tells a storage that keeps memory behind its views that they are not needed any more.
  void discard(ExpertKey key) noexcept {
    if constexpr (storage::DiscardableStorage<Storage>) {
      const ExpertReads its = reads(key);
      for (std::size_t i = 0; i < its.size(); ++i) storage_.discard(its[i]);
    } else {
      (void)key;
    }
  }

 private:
  [[nodiscard]] static Bytes converted(const experts::ExpertMatrix& matrix) {
    return align_up(converted_bytes<Representation>(matrix.type, static_cast<std::size_t>(matrix.rows),
                                                    static_cast<std::size_t>(matrix.cols())),
                    SlotPlan::slot_alignment);
  }

  [[nodiscard]] std::span<const std::byte> check(const ExpertReads& reads, ExpertKey key, std::size_t i,
                                                 std::span<const std::byte> bytes) const {
    if (checksums_ == nullptr || checksums_->agrees(key, i, checksum(bytes))) return bytes;
    throw Error(Errc::io, map_->file_name(reads[i].shard) + ": the " + std::to_string(reads[i].bytes) +
                              " bytes at offset " + std::to_string(reads[i].offset) + " (expert " +
                              std::to_string(map_->space().expert(key)) + " of layer " +
                              std::to_string(map_->space().layer(key)) + ") do not have the checksum known of them");
  }

  [[nodiscard]] static PartView part(const ExpertReads& reads, std::size_t i, std::span<const std::byte> bytes) {
    PartView result;
    reads.for_matrices(i, bytes, [&](auto member, const quant::PackedMatrix& matrix) {
      result.matrices[result.n++] = {.member = member, .matrix = matrix};
    });
    return result;
  }

  /// Packs a matrix anew into its place in the slot.
  static void convert(PartView::Matrix& m, const experts::LayerExperts& layer, std::span<std::byte> slot) {
    const auto gate = static_cast<std::size_t>(converted(layer.gate));
    const auto up = static_cast<std::size_t>(converted(layer.up));
    const std::size_t at = m.member == &ExpertView::gate ? 0 : m.member == &ExpertView::up ? gate : gate + up;
    const auto to = slot.subspan(
        at, static_cast<std::size_t>(converted_bytes<Representation>(m.matrix.type, m.matrix.rows, m.matrix.cols)));
    Representation::convert(m.matrix, to);
    m.matrix.type = Representation::target(m.matrix.type, m.matrix.cols);
    m.matrix.bytes = to;
  }

  /// Buffers of threads that read at the same time; kept, as the next read needs one again.
  [[nodiscard]] AlignedBuffer take_staging(std::size_t size) {
    const std::lock_guard lock(staging_mutex_);
    if (!staging_.empty()) {
      AlignedBuffer buffer = std::move(staging_.back());
      staging_.pop_back();
      if (buffer.size() >= size) return buffer;
    }
    return AlignedBuffer(size, AlignedBuffer::page);
  }
  void give_back(AlignedBuffer buffer) {
    const std::lock_guard lock(staging_mutex_);
    staging_.push_back(std::move(buffer));
  }

  const experts::ExpertMap* map_;
  Storage storage_;
  Checksums* checksums_;
  bool in_place_;
  std::mutex staging_mutex_;
  std::vector<AlignedBuffer> staging_;
};

}  // namespace lazymoe::store::detail
