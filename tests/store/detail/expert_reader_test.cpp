#include <lazymoe/store/detail/expert_reader.hpp>

#include <vector>

#include <lazymoe/storage/mmap.hpp>
#include <lazymoe/storage/pread.hpp>

#include "store/model_fixture.hpp"
#include "support/catch.hpp"
#include "support/deferred_storage.hpp"
#include "support/throws.hpp"

namespace lazymoe::store::detail {
namespace {

/// All parts of an expert, begun before the first is over where that is possible.
template <class Storage, class R>
ExpertView read(ExpertReader<Storage, R>& reader, ExpertKey key, std::span<std::byte> slot) {
  const ExpertReads reads = reader.reads(key);
  ExpertView view;
  if (reader.asynchronous()) {
    for (std::size_t i = 0; i < reads.size(); ++i) reader.begin(reads, i, slot, i);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const storage::Completed completed = reader.next();
      reader.end(reads, key, static_cast<std::size_t>(completed.tag), completed).put_into(view);
    }
  } else {
    for (std::size_t i = reads.size(); i-- > 0;) reader.read(reads, key, i, slot).put_into(view);
  }
  return view;
}

}  // namespace

TEMPLATE_TEST_CASE("A reader fills a slot of the size it says, part by part", "[store][expert_reader]", storage::Pread,
                   storage::Mmap, test::DeferredStorage) {
  const test::ModelFixture model({.fused_gate_up = GENERATE(false, true), .first_down_type = quant::TypeId::f16});
  TestType storage(model.file.paths());
  using Reader = ExpertReader<TestType, KeepQuantized>;
  const bool in_place = Reader::in_place(storage, model.map);
  CHECK(in_place == std::is_same_v<TestType, storage::Mmap>);
  const auto slot_bytes = Reader::slot_bytes(storage);
  Reader reader(model.map, std::move(storage), nullptr);
  for (const LayerIndex layer : {0U, 2U}) {
    std::vector<std::byte> slot(in_place ? 0 : static_cast<std::size_t>(slot_bytes(model.map.layer(layer))));
    CHECK(model.is_expert(read(reader, model.map.space().key(layer, 5), slot), layer, 5));
  }
}

TEST_CASE("What is packed anew has slots of its own size, and its type", "[store][expert_reader]") {
  const test::ModelFixture model;
  using Reader = ExpertReader<storage::Mmap, DecodeTo<quant::F16>>;
  storage::Mmap storage(model.file.paths());
  CHECK_FALSE(Reader::in_place(storage, model.map));
  const experts::LayerExperts& l = model.map.layer(0);
  const Bytes bytes = Reader::slot_bytes(storage)(l);
  CHECK(bytes == 2 * (l.gate.rows * l.gate.cols() + l.up.rows * l.up.cols() + l.down.rows * l.down.cols()));
  Reader reader(model.map, std::move(storage), nullptr);
  std::vector<std::byte> slot(static_cast<std::size_t>(bytes));
  const ExpertView view = read(reader, model.map.space().key(0, 1), slot);
  for (const auto* m : {&view.gate, &view.up, &view.down}) {
    CHECK(m->type == quant::TypeId::f16);
    CHECK(m->bytes.data() >= slot.data());
    CHECK(m->bytes.data() + m->bytes.size() <= slot.data() + slot.size());
  }
}

TEST_CASE("A read whose checksum is known otherwise is refused by file, offset and expert", "[store][expert_reader]") {
  const test::ModelFixture model;
  Checksums sums(model.map.space());
  const ExpertKey key = model.map.space().key(1, 3);
  CHECK(sums.agrees(key, 2, 99));
  ExpertReader<storage::Pread, KeepQuantized> reader(model.map, storage::Pread(model.file.paths()), &sums);
  std::vector<std::byte> slot(static_cast<std::size_t>(reader.slot_bytes()(model.map.layer(1))));
  const Error error = test::error_of([&] { (void)read(reader, key, slot); });
  CHECK(error.code() == Errc::io);
  CHECK(test::mentions(error, model.file.paths().front().string()));
  CHECK(test::mentions(error, "offset " + std::to_string(model.map.slices(1, 3).down.offset)));
  CHECK(test::mentions(error, "expert 3 of layer 1"));
}

}  // namespace lazymoe::store::detail
