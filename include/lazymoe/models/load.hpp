#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "../core/error.hpp"
#include "../core/types.hpp"
#include "../gguf/file.hpp"
#include "../parallel/thread_pool.hpp"
#include "../store/source.hpp"
#include "architecture.hpp"
#include "config.hpp"
#include "decoder.hpp"
#include "sequence.hpp"
#include "weights.hpp"

namespace lazymoe::models {

/// A loaded model, whatever its family. Borrows the expert source and the thread pool it was loaded with.
///
/// @thread const members may run for different sequences at once
class Model {
 public:
  [[nodiscard]] const Config& config() const noexcept { return impl_->config(); }
  /// Bytes of the dense weights.
  [[nodiscard]] Bytes weight_bytes() const noexcept { return impl_->weight_bytes(); }

  /// @throws Error{bad_argument} for a context or batch of no use
  [[nodiscard]] std::unique_ptr<Sequence> new_sequence(SequenceOptions options = {}) const {
    if (options.n_ctx == 0) options.n_ctx = default_context(config());
    if (options.n_batch == 0) throw Error(Errc::bad_argument, "a batch of 0 tokens runs nothing");
    if (options.n_ctx > config().n_ctx_train) {
      throw Error(Errc::bad_argument, "a context of " + std::to_string(options.n_ctx) +
                                          " tokens is more than the model allows, which is " +
                                          std::to_string(config().n_ctx_train));
    }
    return impl_->new_sequence(options);
  }

  /// Runs `tokens` at the end of a sequence that new_sequence() of this model made; see Decoder::forward().
  void forward(Sequence& sequence, std::span<const TokenId> tokens, std::span<float> logits) const {
    impl_->forward(sequence, tokens, logits);
  }

 private:
  friend Model load_model(const gguf::File&, store::ExpertSource&, parallel::ThreadPool&, WeightStorage,
                          const Progress&);

  struct Interface {
    virtual ~Interface() = default;
    [[nodiscard]] virtual const Config& config() const noexcept = 0;
    [[nodiscard]] virtual Bytes weight_bytes() const noexcept = 0;
    [[nodiscard]] virtual std::unique_ptr<Sequence> new_sequence(const SequenceOptions&) const = 0;
    virtual void forward(Sequence&, std::span<const TokenId>, std::span<float>) const = 0;
  };

  template <TokenMixer Mixer>
  struct Of final : Interface {
    template <class... Args>
    explicit Of(Args&&... args) : decoder(std::forward<Args>(args)...) {}
    const Config& config() const noexcept override { return decoder.config(); }
    Bytes weight_bytes() const noexcept override { return decoder.weight_bytes(); }
    std::unique_ptr<Sequence> new_sequence(const SequenceOptions& options) const override {
      return std::make_unique<typename Decoder<Mixer>::SequenceType>(decoder.new_sequence(options));
    }
    void forward(Sequence& s, std::span<const TokenId> tokens, std::span<float> logits) const override {
      decoder.forward(static_cast<typename Decoder<Mixer>::SequenceType&>(s), tokens, logits);
    }
    Decoder<Mixer> decoder;
  };

  explicit Model(std::unique_ptr<Interface> impl) : impl_(std::move(impl)) {}

  std::unique_ptr<Interface> impl_;
};

/// Everything load_model() would refuse the file for, in one message, without reading weights.
/// @throws Error{unsupported_model, bad_tensor, bad_metadata}
inline void check_model(const gguf::File& file) {
  visit_architecture(file.metadata().require<std::string_view>("general.architecture"), file.name(),
                     [&](auto architecture) {
                       using A = typename decltype(architecture)::type;
                       Decoder<typename A::Mixer>::check(read_config<A>(file), file);
                     });
}

/// Loads the dense weights of a model; its experts stay with `experts`.
///
/// @pre    `experts` and `pool` outlive the model; `file` is not needed any more
/// @throws Error{unsupported_model, bad_tensor, bad_metadata, io}
[[nodiscard]] inline Model load_model(const gguf::File& file, store::ExpertSource& experts, parallel::ThreadPool& pool,
                                      WeightStorage how = WeightStorage::read, const Progress& progress = {}) {
  std::unique_ptr<Model::Interface> impl;
  visit_architecture(file.metadata().require<std::string_view>("general.architecture"), file.name(),
                     [&](auto architecture) {
                       using A = typename decltype(architecture)::type;
                       impl = std::make_unique<Model::Of<typename A::Mixer>>(read_config<A>(file), file, experts, pool,
                                                                              how, progress);
                     });
  return Model(std::move(impl));
}

}  // namespace lazymoe::models
