#pragma once

#include "generate/sampler.hpp"
#include "generate/session.hpp"
#include "generate/stop.hpp"

namespace lazymoe {

using generate::Part;
using generate::Reply;
using generate::Session;
using generate::SessionOptions;

}  // namespace lazymoe
