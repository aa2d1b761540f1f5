#pragma once

#include "build_info.hpp"
#include "cache.hpp"
#include "core.hpp"
#include "generate.hpp"
#include "gguf.hpp"
#include "models.hpp"
#include "quant.hpp"
#include "storage.hpp"
#include "store.hpp"
#include "tensor.hpp"
#include "text.hpp"
#include "version.hpp"
