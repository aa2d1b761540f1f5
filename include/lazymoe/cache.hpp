#pragma once

#include "cache/eviction.hpp"
#include "cache/fifo.hpp"
#include "cache/lfu.hpp"
#include "cache/lfu_aged.hpp"
#include "cache/lru.hpp"
#include "cache/registry.hpp"
#include "cache/sieve.hpp"
