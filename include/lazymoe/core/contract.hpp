#pragma once

#include <cassert>

// A promise of the caller. Checked like assert: off in release builds, where breaking it is undefined.
#define LAZYMOE_EXPECTS(condition) assert((condition) && "precondition")

// A promise of the function itself.
#define LAZYMOE_ENSURES(condition) assert((condition) && "postcondition")
