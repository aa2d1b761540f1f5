#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "../core/error.hpp"
#include "../core/types.hpp"
#include "http.hpp"
#include "slice_cache.hpp"
#include "url.hpp"

namespace lazymoe::io {

/// What has passed between programs and servers.
struct Traffic {
  std::uint64_t requests = 0;
  Bytes bytes = 0;       ///< received, headers included
  Bytes from_cache = 0;  ///< bytes that a cache on disk had, so that nobody was asked
};

/// A file on an HTTP server that answers requests for ranges; the counterpart of FileHandle. Copies share connections.
///
/// The file is taken to be as it was when it was opened: an answer about one of another length, ETag or date of change
/// is an error.
/// @thread safe: each read that is under way has a connection of its own
class RemoteFile {
 public:
  /// The URL.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return state_->url; }
  [[nodiscard]] Bytes bytes() const noexcept { return state_->bytes; }

  /// Fills `into` from `offset`. Failures that may pass are tried again, HttpOptions::retries times.
  /// @throws Error{io} naming the URL and the offset
  void read_exact_at(std::uint64_t offset, std::span<std::byte> into) const {
    if (into.empty()) return;
    State& state = *state_;
    if (state.cache && state.cache->find(offset, into)) {
      state.common->from_cache += into.size();
      return;
    }
    const auto fail = [&](const std::string& why) { state.fail(offset, into.size(), why); };
    std::size_t done = 0;
    for (unsigned attempt = 0;; ++attempt) {
      const RangeAnswer answer = state.ask(offset + done, into.subspan(done));
      if (answer.status == 206) {
        const auto& range = answer.range;
        if (!range) fail("the server does not say which bytes it sends");
        if (state.changed(answer)) fail("the file has changed on the server since it was opened");
        if (range->first != offset + done || range->end != offset + into.size()) {
          fail("the server sends the bytes from " + std::to_string(range->first) + " to " +
               std::to_string(range->end) + " instead");
        }
        done += answer.received;
        if (done == into.size()) break;
      }
      if (!answer.may_pass || attempt == state.common->http.options().retries) fail(State::reason(answer, attempt + 1));
      state.pause(attempt, answer);
    }
    if (state.cache) state.cache->put(offset, into);
  }

 private:
  friend class RemoteFiles;

  /// What the files of one RemoteFiles share.
  struct Common {
    explicit Common(HttpOptions options) : http(options) {}
    HttpConnections http;
    std::atomic<std::uint64_t> requests{0};
    std::atomic<Bytes> received{0};
    std::atomic<Bytes> from_cache{0};
  };

  struct State {
    std::filesystem::path url;
    std::shared_ptr<Common> common;
    Bytes bytes = 0;
    std::string etag = {};
    std::string last_modified = {};
    std::optional<SliceCache> cache = {};
    std::mutex mutex = {};
    std::string place = {};  ///< where redirects led last; guarded by mutex

    /// Asks where redirects led before, so that their server need not be asked for every range; where that place
    /// refuses (links into stores run out), from the URL on again.
    RangeAnswer ask(Bytes offset, std::span<std::byte> into) {
      std::string from = url.string();
      {
        const std::lock_guard lock(mutex);
        if (!place.empty()) from = place;
      }
      RangeAnswer answer = ask_at(from, offset, into);
      const bool refused = answer.status == 0 || answer.status >= 400;
      if (refused && from != url.native()) answer = ask_at(url.string(), offset, into);
      const std::lock_guard lock(mutex);
      place = answer.status == 206 ? answer.place : std::string();
      return answer;
    }

    RangeAnswer ask_at(const std::string& at, Bytes offset, std::span<std::byte> into) const {
      RangeAnswer answer = common->http.get(at, offset, into);
      ++common->requests;
      common->received += answer.transferred;
      return answer;
    }

    /// Two answers can be compared by what both say.
    [[nodiscard]] bool changed(const RangeAnswer& answer) const {
      if (answer.range->total != bytes) return true;
      if (!etag.empty() && !answer.etag.empty()) return answer.etag != etag;
      return !last_modified.empty() && !answer.last_modified.empty() && answer.last_modified != last_modified;
    }

    void pause(unsigned attempt, const RangeAnswer& answer) const {
      constexpr std::chrono::seconds longest{10};
      const std::chrono::milliseconds own(common->http.options().first_pause.count() << std::min(attempt, 10U));
      std::this_thread::sleep_for(
          std::min<std::chrono::milliseconds>(std::max<std::chrono::milliseconds>(own, answer.retry_after), longest));
    }

    [[noreturn]] void fail(Bytes offset, std::size_t wanted, const std::string& why) const {
      throw Error(Errc::io, url.string() + ": cannot read " + std::to_string(wanted) + " bytes at offset " +
                                std::to_string(offset) + ": " + why);
    }

    [[nodiscard]] static std::string reason(const RangeAnswer& answer, unsigned attempts) {
      std::string why = answer.failure;
      if (why.empty()) {
        why = "the server answers " + std::to_string(answer.status);
        if (answer.status == 200) why = "the server ignores ranges and would send the whole file";
        if (answer.status == 206) why = "the server sends fewer bytes than it says";
        if (answer.status == 404) why += " (not found)";
        if (answer.status == 416) why += " (no such range)";
      }
      return attempts == 1 ? why : why + ", also when asked again (" + std::to_string(attempts) + " times in all)";
    }
  };

  explicit RemoteFile(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

/// Opens files on HTTP servers. Each URL is opened once: who opens it again gets the same file, so that all parts of a
/// program see one state of it. Copies share everything.
/// @thread safe
class RemoteFiles {
 public:
  /// @param cache a folder for what was read; see SliceCache. Without one everything is read from the server.
  explicit RemoteFiles(HttpOptions options = {}, std::optional<std::filesystem::path> cache = {})
      : shared_(std::make_shared<Shared>(options, std::move(cache))) {}

  /// @throws Error{io} naming the URL, also where it is none, where the server ignores ranges, or has an empty file
  /// @cost   a request, if the URL is not open yet
  [[nodiscard]] RemoteFile open(const std::filesystem::path& url) const {
    if (!is_url(url)) throw Error(Errc::io, url.string() + ": is not a URL of http or https");
    const std::lock_guard lock(shared_->mutex);
    const auto found = shared_->open.find(url.native());
    if (found != shared_->open.end()) return found->second;
    auto state = std::make_shared<RemoteFile::State>();
    state->url = url;
    state->common = shared_->common;
    probe(*state);
    const bool tells_changes = !state->etag.empty() || !state->last_modified.empty();
    if (shared_->cache && tells_changes) {
      state->cache.emplace(*shared_->cache, url.filename().string(),
                           url.string() + '\n' + std::to_string(state->bytes) + '\n' + state->etag + '\n' +
                               state->last_modified);
    }
    return shared_->open.emplace(url.native(), RemoteFile(std::move(state))).first->second;
  }

  [[nodiscard]] Traffic traffic() const noexcept {
    const auto& common = *shared_->common;
    return {.requests = common.requests, .bytes = common.received, .from_cache = common.from_cache};
  }

 private:
  struct Shared {
    Shared(HttpOptions options, std::optional<std::filesystem::path> folder)
        : common(std::make_shared<RemoteFile::Common>(options)), cache(std::move(folder)) {}
    std::shared_ptr<RemoteFile::Common> common;
    std::optional<std::filesystem::path> cache;
    std::mutex mutex;
    std::map<std::string, RemoteFile> open;  ///< guarded by mutex
  };

  /// Asks for the first byte: the answer tells the length, and what identifies this state of the file.
  static void probe(RemoteFile::State& state) {
    std::byte first{};
    for (unsigned attempt = 0;; ++attempt) {
      RangeAnswer answer = state.ask(0, {&first, 1});
      if (answer.status == 206 && answer.received == 1) {
        state.bytes = answer.range->total;
        state.etag = std::move(answer.etag);
        state.last_modified = std::move(answer.last_modified);
        return;
      }
      const bool unclear = answer.status == 206 && !answer.may_pass;
      if (!answer.may_pass || attempt == state.common->http.options().retries) {
        throw Error(Errc::io, state.url.string() + ": cannot open: " +
                                  (unclear ? "the server does not say which bytes of how many it sends"
                                           : RemoteFile::State::reason(answer, attempt + 1)));
      }
      state.pause(attempt, answer);
    }
  }

  std::shared_ptr<Shared> shared_;
};

}  // namespace lazymoe::io
