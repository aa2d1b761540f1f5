#pragma once

#include "storage/memory.hpp"
#include "storage/mmap.hpp"
#include "storage/pread.hpp"
#include "storage/registry.hpp"
#include "storage/storage.hpp"
