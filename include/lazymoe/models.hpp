#pragma once

#include "moe/routed_ffn.hpp"
#include "moe/router.hpp"
#include "models/architecture.hpp"
#include "models/config.hpp"
#include "models/decoder.hpp"
#include "models/load.hpp"
#include "models/memory.hpp"
#include "models/sequence.hpp"
#include "parallel/thread_pool.hpp"

namespace lazymoe {

using models::load_model;
using models::Model;
using models::Sequence;
using parallel::ThreadPool;

}  // namespace lazymoe
