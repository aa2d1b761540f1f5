#pragma once

#include "core/buffer.hpp"
#include "core/bytes.hpp"
#include "core/contract.hpp"
#include "core/error.hpp"
#include "core/types.hpp"
#include "core/units.hpp"
