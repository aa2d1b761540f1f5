#pragma once

#include "gguf/file.hpp"
#include "gguf/metadata.hpp"
#include "gguf/parse.hpp"
#include "gguf/shards.hpp"
#include "gguf/tensor.hpp"
#include "gguf/value.hpp"
#include "gguf/writer.hpp"
