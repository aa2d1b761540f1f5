#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "programs/chat_model.hpp"
#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/temp_dir.hpp"
#include "support/terminal.hpp"

namespace lazymoe::test {

namespace {

const std::string kenya = "What is the capital of Kenya?";
const std::string nairobi = "The capital of Kenya is Nairobi.\n";

Ended chat(std::vector<std::string> arguments, Given given = {}) {
  arguments.insert(arguments.begin(), bundled_model);
  return run_program("chat", std::move(arguments), std::move(given));
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("chat answers one prompt and ends", "[programs][chat]") {
  const Ended ended = chat({"-p", kenya});
  CHECK(ended.out == nairobi);
  CHECK(ended.err.empty());
  CHECK(ended.exit_code == 0);
}

TEST_CASE("chat answers the same with every way to hold experts", "[programs][chat]") {
  const Ended inspect = run_program("inspect", {bundled_model});
  const std::string smallest = std::to_string(inspected(inspect.out, "smallest --budget"));
  const auto arguments = GENERATE_COPY(values<std::vector<std::string>>({
      {"--budget", smallest},
      {"--experts", "lazy", "--budget", "1MiB", "--eviction", "lru", "--storage", "memory"},
      {"--budget", "8experts", "--eviction", "lfu", "--storage", "mmap"},
      {"--budget", "1TiB", "--eviction", "fifo"},
      {"--experts", "eager"},
      {"--experts", "eager", "--storage", "mmap", "--threads", "1", "--batch", "1", "--kv", "f32"},
  }));
  CAPTURE(arguments);
  std::vector<std::string> all{"-p", kenya};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const Ended ended = chat(all);
  CHECK(ended.out == nairobi);
  CHECK(ended.err.empty());
  CHECK(ended.exit_code == 0);
}

TEST_CASE("the environment sets what flags may overrule", "[programs][chat]") {
  const Given named{.environment = {{"LAZYMOE_MODEL", bundled_model}}};
  CHECK(run_program("chat", {"-p", kenya}, named).out == nairobi);
  CHECK(run_program("chat", {bundled_model, "-p", kenya}, {.environment = {{"LAZYMOE_MODEL", "/nowhere"}}}).out ==
        nairobi);

  const Given eager{.environment = {{"LAZYMOE_EXPERTS", "eager"}}};
  CHECK(contains(chat({"-p", kenya, "--stats"}, eager).err, "all resident"));
  CHECK(contains(chat({"-p", kenya, "--stats", "--experts", "lazy"}, eager).err, " hits, "));

  const Given poor{.environment = {{"LAZYMOE_BUDGET", "1000"}}};
  const Ended refused = chat({"-p", kenya}, poor);
  CHECK(refused.exit_code == 1);
  CHECK(contains(refused.err, "1000 bytes"));
  CHECK(chat({"-p", kenya, "--budget", "8experts"}, poor).out == nairobi);

  // A budget that is typed counts or is refused; that of the environment is for lazy experts.
  CHECK(chat({"-p", kenya, "--experts", "eager"}, poor).out == nairobi);
  const Ended torn = chat({"-p", kenya, "--budget", "8experts"}, eager);
  CHECK(torn.exit_code == 1);
  CHECK(contains(torn.err, "--budget: eager experts"));

  CHECK(chat({"-p", kenya}, {.environment = {{"LAZYMOE_EXPERTS", "some"}}}).exit_code == 1);
  CHECK(chat({"-p", kenya}, {.environment = {{"LAZYMOE_BUDGET", "some"}}}).exit_code == 1);
}

TEST_CASE("without a terminal chat answers line by line", "[programs][chat]") {
  const std::string answers =
      "The capital of Kenya is Nairobi.\nThe currency of Kenya is the Kenyan shilling.\nThe capital of Austria is "
      "Vienna.\n";
  const auto input = GENERATE_COPY(as<std::string>(), kenya + "\nAnd its currency?\nWhat is the capital of Austria?\n",
                                   kenya + "\r\n\r\n  \nAnd its currency?\r\nWhat is the capital of Austria?");
  CAPTURE(input);
  const Ended ended = chat({}, {.input = input});
  CHECK(ended.out == answers);
  CHECK(ended.err.empty());
  CHECK(ended.exit_code == 0);
}

TEST_CASE("no input is a conversation without words", "[programs][chat]") {
  const Ended ended = chat({});
  CHECK(ended.out.empty());
  CHECK(ended.err.empty());
  CHECK(ended.exit_code == 0);
}

TEST_CASE("/clear begins the conversation anew", "[programs][chat]") {
  const std::string question = "And its currency?\n";
  const Ended anew = chat({}, {.input = question});
  const Ended cleared = chat({}, {.input = kenya + "\n/clear\n" + question});
  CHECK(cleared.out == nairobi + anew.out);
  CHECK_FALSE(contains(anew.out, "Kenya"));
}

TEST_CASE("/shrink gives memory back, and the answers stay", "[programs][chat]") {
  const Ended ended = chat({"--budget", "20MB"}, {.input = kenya + "\n/clear\n/shrink 2MB\n" + kenya + "\n"});
  CHECK(ended.out == nairobi + nairobi);
  CHECK(contains(ended.err, " given back; 1.8"));
  CHECK(ended.exit_code == 0);
  const Ended refused = chat({}, {.input = "/shrink 1kB\n/shrink all\n" + kenya + "\n"});
  CHECK(refused.out == nairobi);
  CHECK(contains(refused.err, "below the smallest that works"));
  CHECK(lines(refused.err) == 2);
  CHECK(contains(chat({"--experts", "eager"}, {.input = "/shrink 1MB\n"}).err, "eager experts are all resident"));
}

TEST_CASE("what begins with a slash is a command or refused, and no message", "[programs][chat]") {
  const auto line = GENERATE(as<std::string>(), "/", "/help me", "/shrink", "/shrink 2MB 3MB", "/shrinkfoo", "/etc/passwd");
  const Ended ended = chat({"--budget", "20MB"}, {.input = line + "\n" + kenya + "\n"});
  CHECK(ended.out == nairobi);
  CHECK(ended.err == line + ": is no command; there are /clear, /shrink SIZE and /help\n");
  CHECK(ended.exit_code == 1);
  const Ended help = chat({"--budget", "20MB"}, {.input = "/help\n/shrink   2MB\n" + kenya + "\n"});
  CHECK(help.out == nairobi);
  CHECK(contains(help.err, "/clear begins the conversation anew"));
  CHECK(contains(help.err, " given back"));
  CHECK(help.exit_code == 0);
}

TEST_CASE("the default budget suits every storage and representation", "[programs][chat]") {
  const auto way = GENERATE(values<std::vector<std::string>>(
      {{"--storage", "direct"}, {"--storage", "memory"}, {"--representation", "F32"}, {"--representation", "Q4_0"}}));
  std::vector<std::string> arguments{LAZYMOE_GOLDEN_DIR "/models/qwen3moe/Q8_0.gguf", "--tokens", "1,2,3"};
  arguments.insert(arguments.end(), way.begin(), way.end());
  const Ended ended = run_program("logits", arguments);
  CAPTURE(way, ended.err);
  CHECK(ended.exit_code == 0);
}

TEST_CASE("standard streams that are closed stay nobody's", "[programs][chat]") {
  const Ended deaf = chat({}, {.input = kenya + "\n", .closed = {0}});
  CHECK(deaf.out.empty());
  CHECK(deaf.exit_code == 0);
  const TempDir scratch;
  const std::string stats = (scratch.path() / "stats.json").string();
  CHECK(chat({"-p", kenya, "--stats", "--stats-json", stats}, {.closed = {0, 2}}).out == nairobi);
  std::ifstream in(stats);
  std::string text;
  std::getline(in, text);
  CHECK(nlohmann::json::accept(text));
  CHECK(chat({"-p", kenya}, {.closed = {1}}).exit_code == 1);
}

TEST_CASE("chat --stats says what each answer cost", "[programs][chat]") {
  // Which guesses are read is a matter of timing.
  const Ended ended = chat({"--stats", "--budget", "1TiB", "--prefetch", "none"}, {.input = kenya + "\n/clear\n" + kenya + "\n"});
  CHECK(ended.out == nairobi + nairobi);
  REQUIRE(lines(ended.err) == 2);
  const std::string second = ended.err.substr(ended.err.find('\n') + 1);
  CHECK(contains(ended.err, "[prompt: 18 tokens, "));
  CHECK(contains(second, "17 more reused"));
  CHECK(contains(second, " hits, 0 misses, read 0 B, "));  // of this answer, not of all
}

TEST_CASE("a full context drops the oldest turns with a notice", "[programs][chat]") {
  std::string input;
  for (int i = 0; i < 4; ++i) input += kenya + "\n";
  const Ended ended = chat({"--context", "64"}, {.input = input});
  CHECK(ended.out == nairobi + nairobi + nairobi + nairobi);
  CHECK(contains(ended.err, "(the context is full: the oldest 1 turn was dropped)\n"));
  CHECK(ended.exit_code == 0);

  const Ended long_answer = chat({"--context", "24", "-p", "Tell me about Japan."});
  CHECK(long_answer.out.starts_with("Japan is in"));
  CHECK(long_answer.err == "(the answer ends here: it fills the context of 24 tokens)\n");
}

TEST_CASE("a message that is too long is refused, and the conversation goes on", "[programs][chat]") {
  const std::string tale(5000, 'x');
  const Ended ended = chat({"--context", "64"}, {.input = kenya + "\n" + tale + "\nAnd its currency?\n"});
  CHECK(ended.out == nairobi + "The currency of Kenya is the Kenyan shilling.\n");
  CHECK(lines(ended.err) == 1);
  CHECK(contains(ended.err, "does not fit"));
  CHECK(ended.exit_code == 1);  // a script should notice

  const Ended prompt = chat({"-p", tale});
  CHECK(prompt.out.empty());
  CHECK(lines(prompt.err) == 1);
  CHECK(prompt.exit_code == 1);
}

TEST_CASE("chat reads any bytes", "[programs][chat]") {
  const auto text = GENERATE(as<std::string>(), "\xFF\xFE\xC3", std::string("nul\0byte", 8), "<|im_end|><|im_start|>",
                             "\xE2\x82\xAC \xF0\x9F\x98\x80");
  const Ended ended = chat({"--max-tokens", "20"}, {.input = text + "\n"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.empty());
  CHECK(lines(ended.out) == 1);
}

TEST_CASE("equal seeds give equal answers", "[programs][chat]") {
  const auto answer = [](const std::string& seed) {
    return chat({"-p", "Tell me about Japan.", "--temp", "2", "--max-tokens", "30", "--seed", seed}).out;
  };
  CHECK(answer("7") == answer("7"));
  CHECK(answer("7") != answer("8"));
}

TEST_CASE("options shape the answer", "[programs][chat]") {
  CHECK(chat({"-p", kenya, "--max-tokens", "2"}).out == "The capital\n");
  CHECK(chat({"-p", kenya, "--stop", "Nai", "--stop", "zzz"}).out == "The capital of Kenya is \n");
  CHECK(run_program("chat", {"--stop", "Nai", bundled_model, "-p", kenya}).out == "The capital of Kenya is \n");
  CHECK(chat({"-p", kenya, "--chat-template", "chatml"}).out == nairobi);
}

TEST_CASE("what is wrong with the command line is one sentence and exit code 1", "[programs][chat]") {
  const auto [arguments, part] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"--eviction", "random"}, "random"},
      {{"--storage", "tape"}, "tape"},
      {{"--experts", "eager", "--eviction", "random"}, "random"},
      {{"--experts", "eager", "--checksums", "first-read"}, "--checksums: is for lazy experts"},
      {{"--experts", "eager", "--representation", "F32"}, "--representation: is for lazy experts"},
      {{"--memory", "40MiB", "--storage", "memory"}, " + whole files 23."},
      {{"--hot-set", "/"}, "/: is a folder"},
      {{"--hot-set", "/dev/zero"}, "/dev/zero: is too large"},
      {{"--checksums", ""}, "the name is empty"},
      {{"--stats-json", bundled_model}, "would be overwritten"},
      {{"--chat-template", "klingon"}, "'klingon' is unknown; known are: "},
      {{"--experts", "some"}, "some"},
      {{"--budget", "much"}, "--budget: 'much'"},
      {{"--budget", ""}, "--budget"},
      {{"--budget", "-1"}, "'-1' is not a number of bytes"},
      {{"--budget", "1.5"}, "'1.5' is a fraction of a byte"},
      {{"--budget", "99999999999GiB"}, "'99999999999GiB' is out of range"},
      {{"--budget", "99999999999999999999experts"}, "is out of range"},
      {{"--budget", "-1experts"}, "'-1experts' is not a number of experts"},
      {{"--budget", "0"}, "budget of 0 bytes is below the smallest that works, 952320 bytes"},
      {{"--budget", "1000"}, "952320 bytes"},
      {{"--budget", "0experts"}, "8 experts"},
      {{"--budget", "7 experts"}, "8 experts"},
      {{"--budget", "8experts", "--experts", "eager"}, "--budget: eager experts are all resident and have no budget"},
      {{"--memory", "much"}, "--memory: 'much'"},
      {{"--memory", "1MiB"}, "the memory of 1.00 MiB is too little: program 20.00 MiB + tokenizer 1.00 MiB + "},
      {{"--memory", "8GiB", "--budget", "1GiB"}, "--memory: sizes the budget by itself"},
      {{"--memory", "8GiB", "--experts", "eager"}, "--memory: eager experts are all resident"},
      {{"--threads", "0"}, "--threads"},
      {{"--batch", "0"}, "--batch"},
      {{"--context", "0"}, "--context"},
      {{"--context", "100000"}, "tiny-factbook-q4_k_m.gguf: --context 100000 is more than the model allows, which is 512"},
      {{"--seed", "-1"}, "--seed: '-1' is not a whole number"},
      {{"--seed", "1.5"}, "--seed"},
      {{"--seed", "18446744073709551616"}, "--seed"},
      {{"--seed", ""}, "--seed"},
      {{"--max-tokens", "-1"}, "--max-tokens"},
      {{"--temp", "hot"}, "--temp"},
      {{"--temp", "-1"}, "temperature"},
      {{"--temp", "nan"}, "temperature"},
      {{"--top-p", "2"}, "top_p"},
      {{"--stop", ""}, "stop"},
      {{"--prompt", ""}, "empty"},
      {{"--prompt", " \n"}, "empty"},
      {{"--prompt"}, "--prompt"},
      {{"--nonsense"}, "--nonsense"},
      {{"another.gguf"}, "another.gguf"},
  }));
  CAPTURE(arguments);
  std::vector<std::string> all{"-p", kenya};
  if (arguments.front() == "--prompt") all.clear();
  all.insert(all.end(), arguments.begin(), arguments.end());
  const Ended ended = chat(all);
  CHECK(ended.exit_code == 1);
  CHECK(ended.out.empty());
  CHECK(lines(ended.err) == 1);
  CHECK(contains(ended.err, part));
}

TEST_CASE("chat --stats-json keeps the counters of each answer, also by layer", "[programs][chat]") {
  const TempDir dir;
  const std::string path = (dir.path() / "stats.jsonl").string();
  CHECK(chat({"--stats-json", path, "--budget", "20experts"}, {.input = kenya + "\n" + kenya + "\n"}).exit_code == 0);
  std::ifstream file(path);
  std::size_t n_answers = 0;
  for (std::string line; std::getline(file, line); ++n_answers) {
    const auto json = nlohmann::json::parse(line);
    CHECK(json["answer_tokens"].get<int>() > 5);
    CHECK(json["store"]["misses"].get<std::uint64_t>() > 0);
    REQUIRE(json["layers"].size() == 6);
    std::uint64_t sum = 0;
    for (const auto& layer : json["layers"]) sum += layer["bytes_read"].get<std::uint64_t>();
    CHECK(sum == json["store"]["bytes_read"].get<std::uint64_t>());
  }
  CHECK(n_answers == 2);
  const Ended refused = chat({"--stats-json", "/nowhere/x", "-p", kenya});
  CHECK(refused.exit_code == 1);
  CHECK(refused.err == "/nowhere/x: cannot write\n");
}

TEST_CASE("experts of a list are evicted last, and a list that is none is refused", "[programs][chat]") {
  const TempDir dir;
  const auto list = dir.path() / "hot.txt";
  std::ofstream(list) << "# layer expert\n0 1\n5 31\n";
  CHECK(chat({"-p", kenya, "--hot-set", list.string(), "--budget", "9experts"}).out == nairobi);
  std::ofstream(list) << "6 1\n";
  const Ended refused = chat({"-p", kenya, "--hot-set", list.string()});
  CHECK(refused.exit_code == 1);
  CHECK(contains(refused.err, list.string() + ": line 1"));
  CHECK(contains(chat({"-p", kenya, "--hot-set", "/nowhere/x"}).err, "/nowhere/x: cannot be read"));
  CHECK(contains(chat({"-p", kenya, "--checksums", "/nowhere/x"}).err, "/nowhere/x: cannot be read"));
}

TEST_CASE("a checksum that is not the file's is an error in the middle of nothing else", "[programs][chat]") {
  const TempDir dir;
  const auto sums = dir.path() / "sums.txt";
  std::ofstream file(sums);
  for (int layer = 0; layer < 6; ++layer) {
    for (int expert = 0; expert < 32; ++expert) file << layer << ' ' << expert << " 0 12345\n";
  }
  file.close();
  const Ended ended = chat({"-p", kenya, "--checksums", sums.string()});
  CHECK(ended.exit_code == 1);
  CHECK(contains(ended.err, "do not have the checksum known of them"));
  CHECK(contains(ended.err, "tiny-factbook-q4_k_m.gguf"));
}

TEST_CASE("without a model chat says which", "[programs][chat]") {
  const Ended ended = run_program("chat", {});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err == "MODEL is required (--help lists the options)\n");
}

TEST_CASE("Option --help explains every option", "[programs][chat]") {
  const Ended ended = run_program("chat", {"--help"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.empty());
  for (const auto* option : {"--prompt", "--experts", "--budget", "--eviction", "--storage", "--seed", "--temp",
                             "--stats", "LAZYMOE_MODEL", "LAZYMOE_EXPERTS", "LAZYMOE_BUDGET", "--memory", "layer-lfu-aged", "sieve", "mmap"}) {
    CAPTURE(option);
    CHECK(contains(ended.out, option));
  }
}

TEST_CASE("a full disk is an error", "[programs][chat]") {
  for (const auto& arguments : {std::vector<std::string>{"-p", kenya}, std::vector<std::string>{}}) {
    const Ended ended = chat(arguments, {.input = kenya + "\n" + kenya + "\n", .output_file = "/dev/full"});
    CHECK(ended.exit_code == 1);
    CHECK(ended.err == "standard output: cannot write\n");
  }
}

TEST_CASE("on a terminal --stats shows a line while an answer is written, and leaves none", "[programs][chat]") {
  Terminal terminal("chat", {bundled_model, "--stats", "--threads", "1"});
  terminal.wait_for("> ");
  terminal.type(kenya + "\n");
  const std::string shown = terminal.wait_for("[prompt: ");
  CHECK(contains(shown, "The capital of Kenya is Nairobi."));
  const auto region = shown.find("r\0338");
  CHECK((region == std::string::npos || contains(shown, "\033[r")));  // a terminal too small has none
  terminal.type("\x04");
}

TEST_CASE("a signal that ends the program while a line of stats is shown leaves the whole terminal", "[programs][chat]") {
  const TempDir scratch;
  const std::string endless = scratch.write("endless.gguf", endless_model(scratch)).string();
  Terminal terminal("chat", {endless, "-p", "hello", "--stats", "--context", "60000"}, 24);
  terminal.wait_for("\033[1;23r");
  terminal.wait_for("word");
  terminal.type("\x03");
  CHECK_NOTHROW(terminal.wait_for("\033[r"));
}

TEST_CASE("on a terminal chat prompts, and Ctrl-D ends it", "[programs][chat]") {
  Terminal terminal("chat", {bundled_model});
  CHECK(contains(terminal.wait_for("> "), "tiny-factbook-q4_k_m.gguf: 1.67 MiB resident"));
  terminal.type(kenya + "\n");
  CHECK(contains(terminal.wait_for("\n> "), "The capital of Kenya is Nairobi."));
  terminal.type("/clear\n");
  terminal.wait_for("> ");
  terminal.type("\x04");
  CHECK(terminal.wait() == 0);
}

TEST_CASE("loading shows its progress on a terminal", "[programs][chat]") {
  Terminal terminal("chat", {bundled_model, "--experts", "eager"});
  const std::string seen = terminal.wait_for("> ");
  CHECK(contains(seen, "experts 50 % of 21.28 MiB"));
  CHECK(contains(seen, "weights "));
  terminal.type("\x04");
  CHECK(terminal.wait() == 0);
}

TEST_CASE("when reading fails in an answer, the error is a line of its own and the chat goes on", "[programs][chat]") {
  const TempDir dir;
  const auto bytes = endless_model(dir);
  const auto path = dir.write("endless.gguf", bytes);
  const std::vector<std::string> arguments{path.string(), "--context", "65536",   "--temp",
                                           "1",           "--budget",  "4experts"};
  const std::string error = "\r\n" + path.string() + ": wanted ";  // a terminal's line ends
  Terminal terminal("chat", arguments);
  terminal.wait_for("> ");
  for (int i = 0; i < 2; ++i) {
    terminal.type("go on\n");
    terminal.wait_for("word2");
    std::filesystem::resize_file(path, bytes.size() / 8);
    terminal.wait_for(error);
    CHECK(contains(terminal.wait_for("\r\n"), "the file ends there"));
    CHECK(terminal.wait_for("> ") == "> ");
    (void)dir.write("endless.gguf", bytes);
  }
  terminal.type("\x04");
  CHECK(terminal.wait() == 0);

  std::vector<std::string> once = arguments;
  once.insert(once.end(), {"-p", "go on"});
  Terminal one_answer("chat", once);
  one_answer.wait_for("word2");
  std::filesystem::resize_file(path, bytes.size() / 8);
  one_answer.wait_for(error);
  one_answer.wait_for("the file ends there\r\n");
  CHECK(one_answer.wait() == 1);
}

TEST_CASE("Ctrl-C stops the answer, not the program", "[programs][chat]") {
  const TempDir dir;
  const auto path = dir.write("endless.gguf", endless_model(dir));
  Terminal terminal("chat", {path.string(), "--context", "65536", "--temp", "1"});
  terminal.wait_for("> ");
  for (int i = 0; i < 2; ++i) {
    terminal.type("go on\n");
    terminal.wait_for("word2");  // of an answer without end
    terminal.type("\x03");
    terminal.wait_for("\n> ");
  }
  terminal.type("\x03");  // without an answer to stop
  terminal.wait_for("(Ctrl-D ends)");
  terminal.wait_for("> ");
  terminal.type("\x04");
  CHECK(terminal.wait() == 0);
}

}  // namespace lazymoe::test
