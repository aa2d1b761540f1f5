#pragma once

#include "tensor/activations.hpp"
#include "tensor/aliases.hpp"
#include "tensor/matmul.hpp"
#include "tensor/norm.hpp"
#include "tensor/rope.hpp"
