#pragma once

#include "text/bpe.hpp"
#include "text/byte_alphabet.hpp"
#include "text/chat_message.hpp"
#include "text/chat_template.hpp"
#include "text/chats/chatml.hpp"
#include "text/chats/deepseek.hpp"
#include "text/chats/glm4.hpp"
#include "text/chats/kimi.hpp"
#include "text/chats/mistral.hpp"
#include "text/chats/olmo.hpp"
#include "text/chats/qwen3.hpp"
#include "text/chats/qwen35.hpp"
#include "text/end_tokens.hpp"
#include "text/pretokenizer.hpp"
#include "text/segment.hpp"
#include "text/sentence_piece.hpp"
#include "text/special_tokens.hpp"
#include "text/split_rules.hpp"
#include "text/thinking.hpp"
#include "text/tokenizer.hpp"
#include "text/utf8_stream.hpp"
#include "text/vocabulary.hpp"

namespace lazymoe {

using text::ChatFormat;
using text::ChatMessage;
using text::ChatOptions;
using text::SpecialTokens;
using text::ThinkingSplitter;
using text::Tokenizer;

}  // namespace lazymoe
