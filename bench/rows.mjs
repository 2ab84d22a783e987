// The rows of the benchmark: the job that gives each figure, and its goal as a multiple of the floor. Rows of less than
// 100 µs have no goal: a user does not feel them.
const smallCalls = [
  { figure: "call1", inFlight: 1, calls: 2_000, bytes: 100 },
  { figure: "call16", inFlight: 16, calls: 4_000, bytes: 100 },
  { figure: "call128", inFlight: 128, calls: 8_000, bytes: 100 },
  { figure: "call10MB", inFlight: 1, calls: 6, bytes: 10_000_000 },
];
const httpCalls = [
  { figure: "http16", inFlight: 16, calls: 2_000, bytes: 100 },
  { figure: "http1MB", inFlight: 1, calls: 20, bytes: 1_000_000 },
];

/**
 * What a sample of the library does. `isCheap`: the quick form measures the other clients more than once. `overHttp`:
 * uses HTTP servers instead of stdio servers.
 */
export const jobs = {
  small: { servers: 1, tools: 10, isCheap: true },
  many: { servers: 100, tools: 10 },
  thousand: { servers: 1, tools: 1_000, isCheap: true },
  tenThousand: { servers: 1, tools: 10_000 },
  calls: { servers: 1, tools: 10, plans: smallCalls },
  http: { servers: 1, tools: 10, plans: httpCalls, overHttp: true },
};

/** Rows of the library: CPU or memory of the client's process, compared with the floor. */
export const libraryRows = [
  { title: "import of the library", job: "small", figure: "import", unit: "ms", goal: 6 },
  { title: "discovery: 1 server, 10 tools", job: "small", figure: "discovery", unit: "ms", goal: 4 },
  { title: "import and discovery to the first usable tool", job: "small", figure: "firstTool", unit: "ms", goal: 4 },
  { title: "import and discovery to the first result", job: "calls", figure: "firstResult", unit: "ms", goal: 5 },
  { title: "discovery: 100 servers, 10 tools each", job: "many", figure: "discovery", unit: "ms", goal: 1.8 },
  { title: "discovery: 1 server, 1 000 tools", job: "thousand", figure: "discovery", unit: "ms", goal: 2.5 },
  { title: "discovery: 1 server, 10 000 tools", job: "tenThousand", figure: "discovery", unit: "ms", goal: 2 },
  { title: "peak memory with 100 servers", job: "many", figure: "megabytes", unit: "MB", goal: 1.4 },
  { title: "small stdio call, 1 in flight", job: "calls", figure: "call1", unit: "µs" },
  { title: "small stdio call, 16 in flight", job: "calls", figure: "call16", unit: "µs" },
  { title: "small stdio call, 128 in flight", job: "calls", figure: "call128", unit: "µs" },
  { title: "10 MB result, stdio", job: "calls", figure: "call10MB", unit: "ms", goal: 1.15 },
  { title: "small HTTP call, 16 in flight", job: "http", figure: "http16", unit: "µs" },
  { title: "1 MB result, HTTP", job: "http", figure: "http1MB", unit: "ms", goal: 1.3 },
];

/** Rows of the command: CPU with all children, or wall time to the app's first frame, compared with another program. */
export const commandRows = [
  { title: "fairlead --version", label: "version", beside: "node -e 0", figure: "cpu", unit: "ms", goal: 1.3 },
  { title: "Tab key: names of commands", label: "tab", beside: "node -e 0", figure: "cpu", unit: "ms", goal: 2 },
  { title: "mcp list, no servers", label: "list0", beside: "node -e 0", figure: "cpu", unit: "ms", goal: 1.6 },
  { title: "mcp list, 5 fast servers", label: "list5", beside: "floor", figure: "cpu", unit: "ms", goal: 1.3 },
  { title: "first frame of the app", label: "frame", beside: "node -e 0", figure: "wall", unit: "ms", goal: 6 },
];
