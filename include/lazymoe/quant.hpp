#pragma once

#include "quant/activation.hpp"
#include "quant/decode.hpp"
#include "quant/dot.hpp"
#include "quant/encode.hpp"
#include "quant/format.hpp"
#include "quant/half.hpp"
#include "quant/packed_matrix.hpp"
#include "quant/registry.hpp"
