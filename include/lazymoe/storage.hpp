#pragma once

#include "storage/direct.hpp"
#include "storage/faulty.hpp"
#include "storage/memory.hpp"
#include "storage/mmap.hpp"
#include "storage/pread.hpp"
#include "storage/registry.hpp"
#include "storage/storage.hpp"
#include "storage/throttled.hpp"
