/*
 * The server under test: starts in a millisecond and answers for next to nothing, so that what is measured is the client.
 * Arguments: the number of tools, the size of a tool's result in bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  char *bytes;
  size_t length, room;
} Text;

static void append(Text *text, const char *bytes, size_t length) {
  if (text->length + length > text->room) {
    text->room = (text->length + length) * 2;
    text->bytes = realloc(text->bytes, text->room);
    if (text->bytes == NULL) exit(1);
  }
  memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
}

static void say(Text *text, const char *words) { append(text, words, strlen(words)); }

static void flush(Text *out) {
  for (size_t sent = 0; sent < out->length;) {
    ssize_t count = write(STDOUT_FILENO, out->bytes + sent, out->length - sent);
    if (count <= 0) exit(0);
    sent += (size_t)count;
  }
  out->length = 0;
}

static Text tools(int count) {
  Text list = {0};
  say(&list, "{\"tools\":[");
  for (int i = 0; i < count; i++) {
    char tool[640];
    snprintf(tool, sizeof tool,
             "%s{\"name\":\"tool_%d\",\"title\":\"Tool %d\",\"description\":\"Looks something up in a place that is "
             "known to the server, and says what it has found there.\",\"inputSchema\":{\"type\":\"object\","
             "\"properties\":{\"query\":{\"type\":\"string\",\"description\":\"What to look for\"},"
             "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100},"
             "\"exact\":{\"type\":\"boolean\",\"default\":false}},\"required\":[\"query\"]},"
             "\"annotations\":{\"readOnlyHint\":true}}",
             i == 0 ? "" : ",", i, i);
    say(&list, tool);
  }
  say(&list, "]}");
  return list;
}

static Text result(size_t size) {
  Text text = {0};
  say(&text, "{\"content\":[{\"type\":\"text\",\"text\":\"");
  for (size_t i = 0; i < size; i++) append(&text, "x", 1);
  say(&text, "\"}]}");
  return text;
}

static const char *initialized =
    "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{},\"prompts\":{},\"resources\":{}},"
    "\"serverInfo\":{\"name\":\"bench\",\"version\":\"1.0.0\"}}";
static const char *prompts = "{\"prompts\":[{\"name\":\"prompt_0\",\"description\":\"A prompt\"}]}";
static const char *resources = "{\"resources\":[{\"uri\":\"bench://0\",\"name\":\"resource_0\"}]}";

static int asks(const char *line, const char *method) {
  const char *at = strstr(line, "\"method\":\"");
  size_t length = strlen(method);
  return at != NULL && strncmp(at + 10, method, length) == 0 && at[10 + length] == '"';
}

static void answer(Text *out, const char *line, const Text *list, const Text *call) {
  const char *id = strstr(line, "\"id\":");
  if (id == NULL) return;
  say(out, "{\"jsonrpc\":\"2.0\",\"id\":");
  append(out, id + 5, strcspn(id + 5, ",}"));
  if (asks(line, "tools/call")) say(out, ",\"result\":"), append(out, call->bytes, call->length);
  else if (asks(line, "tools/list")) say(out, ",\"result\":"), append(out, list->bytes, list->length);
  else if (asks(line, "initialize")) say(out, ",\"result\":"), say(out, initialized);
  else if (asks(line, "prompts/list")) say(out, ",\"result\":"), say(out, prompts);
  else if (asks(line, "resources/list")) say(out, ",\"result\":"), say(out, resources);
  else if (asks(line, "ping")) say(out, ",\"result\":{}");
  else say(out, ",\"error\":{\"code\":-32601,\"message\":\"Method not found\"}");
  say(out, "}\n");
}

int main(int count, char **words) {
  Text list = tools(count > 1 ? atoi(words[1]) : 10);
  Text call = result(count > 2 ? strtoul(words[2], NULL, 10) : 100);
  Text in = {0}, out = {0};
  static char chunk[65536];
  for (ssize_t got; (got = read(STDIN_FILENO, chunk, sizeof chunk)) > 0;) {
    append(&in, chunk, (size_t)got);
    char *start = in.bytes, *end;
    while ((end = memchr(start, '\n', (size_t)(in.bytes + in.length - start))) != NULL) {
      *end = '\0';
      answer(&out, start, &list, &call);
      start = end + 1;
    }
    in.length = (size_t)(in.bytes + in.length - start);
    memmove(in.bytes, start, in.length);
    flush(&out);
  }
  return 0;
}
