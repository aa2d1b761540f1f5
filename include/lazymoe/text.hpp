#pragma once

#include "text/bpe.hpp"
#include "text/byte_alphabet.hpp"
#include "text/chat_template.hpp"
#include "text/end_tokens.hpp"
#include "text/pretokenizer.hpp"
#include "text/segment.hpp"
#include "text/sentence_piece.hpp"
#include "text/special_tokens.hpp"
#include "text/split_rules.hpp"
#include "text/tokenizer.hpp"
#include "text/utf8_stream.hpp"
#include "text/vocabulary.hpp"

namespace lazymoe {

using text::ChatFormat;
using text::ChatMessage;
using text::SpecialTokens;
using text::Tokenizer;

}  // namespace lazymoe
