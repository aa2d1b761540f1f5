#pragma once

// The only place where the version is written; CMake parses these lines.
#define LAZYMOE_VERSION_MAJOR 0
#define LAZYMOE_VERSION_MINOR 1
#define LAZYMOE_VERSION_PATCH 0
