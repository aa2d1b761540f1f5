#pragma once

// The only file that knows which Catch2 is installed: 2.13 and 3 speak the same dialect behind it.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>
#endif
