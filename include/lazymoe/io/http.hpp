#pragma once

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/types.hpp"

namespace lazymoe::io {

/// How patient requests are.
struct HttpOptions {
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::seconds stall_timeout{30};      ///< without a byte
  unsigned retries = 3;                        ///< of one read, after failures that may pass
  std::chrono::milliseconds first_pause{250};  ///< before the first retry; each further one is twice as long
};

/// "bytes 0-99/1000": which bytes of a file of what length an answer holds.
struct ContentRange {
  Bytes first = 0;
  Bytes end = 0;  ///< one past the last
  Bytes total = 0;

  /// None unless all three are said.
  /// @source RFC 9110, section 14.4
  [[nodiscard]] static std::optional<ContentRange> parse(std::string_view text) noexcept {
    const auto number = [&text](Bytes& to) {
      const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), to);
      if (failure != std::errc{}) return false;
      text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
      return true;
    };
    const auto sign = [&text](std::string_view expected) {
      if (!text.starts_with(expected)) return false;
      text.remove_prefix(expected.size());
      return true;
    };
    ContentRange range;
    Bytes last = 0;
    if (!sign("bytes ") || !number(range.first) || !sign("-") || !number(last) || !sign("/") || !number(range.total) ||
        !text.empty() || last < range.first || last >= range.total) {
      return std::nullopt;
    }
    range.end = last + 1;
    return range;
  }
};

/// What came of asking a server for a range of a file.
struct RangeAnswer {
  long status = 0;                     ///< of HTTP; 0: none came
  std::string failure = {};            ///< why the exchange broke off; empty: it did not
  bool may_pass = false;               ///< whether a failure is of a kind that passes
  std::chrono::seconds retry_after{};  ///< what the server asks for
  std::size_t received = 0;            ///< bytes of the range from its begin on
  std::optional<ContentRange> range = {};
  std::string etag = {};
  std::string last_modified = {};
  std::string place = {};  ///< the URL that answered, after redirects
  Bytes transferred = 0;   ///< all that came, headers included
};

/// Connections to HTTP servers, kept open and used again: as many as there are requests at once.
///
/// Needs libcurl (link `lazymoe::curl`). HTTPS, proxies and certificates are as libcurl's defaults and environment say.
/// @thread safe
class HttpConnections {
 public:
  /// @throws Error{io} if libcurl cannot be used
  explicit HttpConnections(HttpOptions options = {}) : options_(options) {
    static const CURLcode ready = ::curl_global_init(CURL_GLOBAL_DEFAULT);
    if (ready != CURLE_OK) throw Error(Errc::io, std::string("libcurl: ") + ::curl_easy_strerror(ready));
  }

  [[nodiscard]] const HttpOptions& options() const noexcept { return options_; }

  /// Asks once for the bytes [offset, offset + into.size()) and follows redirects. Only bytes that the server says are
  /// of this range are taken, and no more than fit.
  /// @pre into is not empty
  [[nodiscard]] RangeAnswer get(const std::string& url, Bytes offset, std::span<std::byte> into) {
    Handle handle = take();
    Exchange exchange{.handle = handle.get(), .offset = offset, .into = into};
    const std::string range = std::to_string(offset) + "-" + std::to_string(offset + into.size() - 1);
    ::curl_easy_setopt(handle.get(), CURLOPT_URL, url.c_str());
    ::curl_easy_setopt(handle.get(), CURLOPT_RANGE, range.c_str());
    ::curl_easy_setopt(handle.get(), CURLOPT_HEADERDATA, &exchange);
    ::curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &exchange);
    const CURLcode code = ::curl_easy_perform(handle.get());
    if (exchange.out_of_memory) throw std::bad_alloc();
    finish(exchange, code);
    give_back(std::move(handle));
    return std::move(exchange.answer);
  }

 private:
  struct Cleanup {
    void operator()(CURL* handle) const noexcept { ::curl_easy_cleanup(handle); }
  };
  using Handle = std::unique_ptr<CURL, Cleanup>;

  struct Exchange {
    CURL* handle;
    Bytes offset;
    std::span<std::byte> into;
    std::size_t dropped = 0;  ///< bytes of pages that explain an error
    bool too_long = false;
    bool out_of_memory = false;
    RangeAnswer answer = {};
  };

  static constexpr std::size_t most_dropped = 64 << 10;  ///< bytes; beyond them a new connection costs less

  Handle take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Handle handle = std::move(idle_.back());
        idle_.pop_back();
        return handle;
      }
    }
    Handle handle(::curl_easy_init());
    if (handle == nullptr) throw std::bad_alloc();
    const auto set = [&](CURLoption option, auto value) { ::curl_easy_setopt(handle.get(), option, value); };
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, 10L);
#if LIBCURL_VERSION_NUM >= 0x075500
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    set(CURLOPT_REDIR_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
    set(CURLOPT_LOW_SPEED_LIMIT, 1024L);  // a second: less is silence
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(options_.stall_timeout.count()));
    set(CURLOPT_USERAGENT, "lazymoe");
    set(CURLOPT_HEADERFUNCTION, &on_header);
    set(CURLOPT_WRITEFUNCTION, &on_body);
    return handle;
  }

  void give_back(Handle handle) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(handle));
  }

  static std::size_t on_header(char* text, std::size_t, std::size_t bytes, void* exchange) noexcept {
    auto& x = *static_cast<Exchange*>(exchange);
    try {
      std::string_view line(text, bytes);
      while (!line.empty() && (line.back() == '\r' || line.back() == '\n' || line.back() == ' ')) line.remove_suffix(1);
      if (line.starts_with("HTTP/")) x.answer = {};  // those of a redirect do not count
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) return bytes;
      const std::string_view name = line.substr(0, colon);
      std::string_view value = line.substr(colon + 1);
      while (value.starts_with(' ')) value.remove_prefix(1);
      if (same(name, "content-range")) x.answer.range = ContentRange::parse(value);
      if (same(name, "etag")) x.answer.etag = value;
      if (same(name, "last-modified")) x.answer.last_modified = value;
      return bytes;
    } catch (const std::bad_alloc&) {
      x.out_of_memory = true;
      return 0;  // ends the exchange
    }
  }

  static bool same(std::string_view a, std::string_view lower_case) noexcept {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::ranges::equal(a, lower_case, {}, lower);
  }

  static std::size_t on_body(char* data, std::size_t, std::size_t bytes, void* exchange) noexcept {
    auto& x = *static_cast<Exchange*>(exchange);
    long status = 0;
    ::curl_easy_getinfo(x.handle, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 400) return (x.dropped += bytes) <= most_dropped ? bytes : 0;
    // Anything else than this range, a whole file above all, is not worth waiting for.
    if (status != 206 || !x.answer.range || x.answer.range->first != x.offset) return 0;
    x.too_long = bytes > x.into.size() - x.answer.received;
    if (x.too_long) return 0;
    std::memcpy(x.into.data() + x.answer.received, data, bytes);
    x.answer.received += bytes;
    return bytes;
  }

  static void finish(Exchange& x, CURLcode code) {
    RangeAnswer& answer = x.answer;
    ::curl_easy_getinfo(x.handle, CURLINFO_RESPONSE_CODE, &answer.status);
    const char* place = nullptr;
    if (::curl_easy_getinfo(x.handle, CURLINFO_EFFECTIVE_URL, &place) == CURLE_OK && place != nullptr) {
      answer.place = place;
    }
    curl_off_t body = 0;
    long headers = 0;
    curl_off_t retry_after = 0;
    ::curl_easy_getinfo(x.handle, CURLINFO_SIZE_DOWNLOAD_T, &body);
    ::curl_easy_getinfo(x.handle, CURLINFO_HEADER_SIZE, &headers);
    ::curl_easy_getinfo(x.handle, CURLINFO_RETRY_AFTER, &retry_after);
    answer.transferred = static_cast<Bytes>(body) + static_cast<Bytes>(headers);
    answer.retry_after = std::chrono::seconds(retry_after);
    switch (code) {
      case CURLE_OK:
        break;
      case CURLE_WRITE_ERROR:  // it was us who ended it: the status says why
        if (x.too_long) answer.failure = "the server sends more bytes than it was asked for";
        break;
      case CURLE_PARTIAL_FILE:
      case CURLE_GOT_NOTHING:
      case CURLE_RECV_ERROR:
        answer.failure = "the connection closed after " + std::to_string(answer.received) + " bytes";
        answer.may_pass = true;
        break;
      case CURLE_OPERATION_TIMEDOUT:
        answer.failure = "the server says nothing";
        answer.may_pass = true;
        break;
      case CURLE_COULDNT_CONNECT:
      case CURLE_SSL_CONNECT_ERROR:
      case CURLE_SEND_ERROR:
      case CURLE_HTTP2:
      case CURLE_HTTP2_STREAM:
        answer.may_pass = true;
        [[fallthrough]];
      default:
        answer.failure = ::curl_easy_strerror(code);
        break;
    }
    constexpr long passing[] = {408, 429, 500, 502, 503, 504};
    if (code == CURLE_OK || code == CURLE_WRITE_ERROR) {
      answer.may_pass = std::ranges::find(passing, answer.status) != std::end(passing);
    }
  }

  HttpOptions options_;
  std::mutex mutex_;
  std::vector<Handle> idle_;  ///< with their open connections
};

}  // namespace lazymoe::io
