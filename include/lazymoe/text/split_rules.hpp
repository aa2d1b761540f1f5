#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "../core/error.hpp"

namespace lazymoe::text {

/// How one family of byte-level tokenizers cuts text into words before merging: a row of the table below.
struct SplitRule {
  std::array<std::string_view, 8> names;    ///< values of tokenizer.ggml.pre; unused ones are empty
  std::array<std::string_view, 6> regexes;  ///< applied in order, each to every piece left by the one before
  bool takes_whole_words = false;           ///< a word that is a token is that token, whatever merging makes of it
  bool adds_bos = false;                    ///< where the file does not say
  bool ranks_by_id = false;  ///< a file may lack merges: then the token with the lowest id is merged first

  [[nodiscard]] constexpr bool is_named(std::string_view name) const noexcept {
    return !name.empty() && std::ranges::find(names, name) != names.end();
  }
};

/// Where an approximation of an expression is in use elsewhere, the one published with the models stands here.
///
/// Two words of the case families (kimi-k2, gpt-4o): letters that may begin a word, [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}],
/// and such that may end it, [\p{Ll}\p{Lm}\p{Lo}\p{M}]. Without Han they are written as what they are not.
/// @source tokenizer.json, or tokenization_*.py, of each family
inline constexpr SplitRule split_rules[] = {
    {.names = {"qwen2", "deepseek-r1-qwen"},
     .regexes = {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
                 R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {.names = {"qwen35"},
     .regexes = {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)"
                 R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {.names = {"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"},
     .regexes = {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
                 R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"},
     .takes_whole_words = true,
     .adds_bos = true},
    {.names = {"glm4", "chatglm-bpe", "dbrx", "smaug-bpe"},
     .regexes = {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
                 R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {.names = {"gpt-2", "olmo", "mpt"},
     .regexes = {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"}},
    {.names = {"kimi-k2"},
     .regexes = {R"([\p{Han}]+)"
                 R"(|[^\r\n\p{L}\p{N}]?[^\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{Han}]*)"
                 R"([^\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{Han}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
                 R"(|[^\r\n\p{L}\p{N}]?[^\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{Han}]+)"
                 R"([^\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{Han}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
                 R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
     .ranks_by_id = true},
    {.names = {"gpt-4o", "llama4", "kanana2"},
     .regexes = {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
                 R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
                 R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
                 R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
                 R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {.names = {"deepseek-v3"},
     .regexes = {R"(\p{N}{1,3})", R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)",
                 R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
                 R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    // The long class is that of cased letters, of an older Unicode. Spaces at the end are found from their first only,
    // else runs of them before other text would take quadratic time.
    {.names = {"deepseek-llm"},
     .regexes =
         {R"([\r\n])",
          R"(\s?[A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF})"
          R"(\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1})"
          R"(\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5})"
          R"(\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77})"
          R"(\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D})"
          R"(\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE})"
          R"(\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC})"
          R"(\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124})"
          R"(\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E})"
          R"(\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D})"
          R"(\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF})"
          R"(\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{10400}-\x{1044F})"
          R"(\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF})"
          R"(\x{1E900}-\x{1E943}]+)",
          R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+)", R"((?<!\s)\s+$)",
          R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)", R"(\p{N}+)"}},
};

/// @param  file that names the rule, for the message
/// @throws Error{unsupported_tokenizer} for a name outside the table; the message lists the known ones
[[nodiscard]] inline const SplitRule& split_rule(std::string_view name, const std::string& file = {}) {
  for (const SplitRule& rule : split_rules) {
    if (rule.is_named(name)) return rule;
  }
  std::string known;
  for (const SplitRule& rule : split_rules) {
    for (const std::string_view alias : rule.names) {
      if (!alias.empty()) known.append(known.empty() ? "" : ", ").append(alias);
    }
  }
  throw Error(Errc::unsupported_tokenizer,
              (file.empty() ? file : file + ": ") + "tokenizer.ggml.pre: unknown pre-tokenizer '" + std::string(name) + "' (known: " + known + ")");
}

}  // namespace lazymoe::text
