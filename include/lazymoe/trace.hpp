#pragma once

#include "trace/parse.hpp"
#include "trace/replay.hpp"
#include "trace/routing_trace.hpp"
