/*
 * A discrete simulation of the team gateway: replicas with one thread each, batches of intents and rows, PostgreSQL with
 * its connections, processors and disk, and refreshes of sign-ins. It answers where calls wait, for more replicas than
 * one machine can run; it proves nothing about correctness. The same seed gives the same figures.
 */
import { performance } from "node:perf_hooks";

/** Milliseconds. The CPU figures are those that `bench/team` measures for one call and for one batch. */
export const standard = {
  seed: 42,
  seconds: 4,
  replicas: 4,
  /** Calls a second of all users. Undefined: `callers` send one call after the other. */
  rate: 500,
  callers: undefined,
  /** Processors that all programs share. Undefined: each replica has one, and PostgreSQL has `engineCores`. */
  sharedCores: undefined,
  engineCores: 4,
  /** Connections of a replica. Two batches of intents and two of rows may be written at the same time. */
  pool: 4,
  mostInBatch: 500,
  /** CPU of the replica for a call without its store, for a batch, and for an entry of it. */
  callCpu: 0.8,
  batchCpu: 0.25,
  entryCpu: 0.015,
  /** CPU of PostgreSQL for a batch, and for an entry of it. */
  engineBatchCpu: 0.25,
  engineEntryCpu: 0.03,
  /** CPU of one more thread for each call: the client of a benchmark. */
  otherCpu: 0,
  /** Median and spread (sigma of the logarithm) of the server's answers, the disk's commits, and an issuer's answers. */
  upstream: [50, 0.6],
  disk: [1.5, 0.5],
  issuer: [60, 0.6],
  /** Refreshes of sign-ins a second of all replicas. */
  refreshes: 0,
  /** How a replica tells the others of a refresh: in its transaction, or by one notification each 100 ms, as Fairlead does. */
  notifies: "joined",
};

/** Runs the simulation and returns its figures: milliseconds, shares of 1, and counts. */
export function simulate(given) {
  const options = { ...standard, ...given };
  const { events, run, random } = createWorld(options.seed);
  const sample = ([middle, spread]) => middle * Math.exp(spread * normal(random));
  const end = options.seconds * 1000;
  const warm = end / 5;
  const shared = options.sharedCores && createPlaces(events, options.sharedCores);
  const engine = shared ?? createPlaces(events, options.engineCores);
  const disk = createDisk(events, () => sample(options.disk));
  const notification = createPlaces(events, 1);
  const others = createPlaces(events, 1);
  const replicas = Array.from({ length: options.replicas }, () => {
    const replica = {
      thread: createPlaces(events, 1),
      pool: createPlaces(events, options.pool),
      refreshing: createPlaces(events, 4),
    };
    for (const name of ["intents", "rows"])
      replica[name] = createBatches(events, { most: options.mostInBatch, parallel: 2 }, (entries, done) =>
        run(commit(replica, entries, done)),
      );
    replica.hints = createBatches(events, { most: 1000, parallel: 1, pause: 100 }, (_, done) =>
      run(notify(replica, done)),
    );
    return replica;
  });
  const own = [];
  const whole = [];
  const refreshWaits = [];
  let entriesStored = 0;
  let commits = 0;

  /** Uses the processor of a replica's only thread. */
  function* compute(replica, time) {
    yield replica.thread.take;
    yield* useCore(time);
    replica.thread.give();
  }
  function* useCore(time) {
    if (shared) yield shared.take;
    yield time;
    shared?.give();
  }
  function* useEngine(time) {
    yield engine.take;
    yield time;
    engine.give();
  }
  function* commit(replica, entries, done) {
    yield* compute(replica, options.batchCpu + entries * options.entryCpu);
    yield replica.pool.take;
    yield* useEngine(options.engineBatchCpu + entries * options.engineEntryCpu);
    yield disk.flush;
    replica.pool.give();
    if (events.now > warm) {
      commits += 1;
      entriesStored += entries;
    }
    done();
  }
  function* call(replica, done) {
    const begin = events.now;
    yield* compute(replica, options.callCpu / 2);
    yield replica.intents.add;
    const sent = events.now;
    yield sample(options.upstream);
    if (options.otherCpu > 0) {
      yield others.take;
      yield* useCore(options.otherCpu);
      others.give();
    }
    const answered = events.now;
    yield* compute(replica, options.callCpu / 2);
    yield replica.rows.add;
    if (begin > warm) {
      own.push(sent - begin + (events.now - answered));
      whole.push(events.now - begin);
    }
    done?.();
  }
  function* refresh(replica) {
    const begin = events.now;
    yield replica.refreshing.take;
    yield replica.pool.take;
    yield* useEngine(options.engineBatchCpu);
    replica.pool.give();
    yield sample(options.issuer);
    const saving = events.now;
    yield* store(replica, options.notifies === "each");
    replica.refreshing.give();
    if (options.notifies === "joined") yield replica.hints.add;
    if (begin > warm) refreshWaits.push(events.now - saving);
  }
  function* notify(replica, done) {
    yield* store(replica, true);
    done();
  }
  /** PostgreSQL commits transactions with a notification one after the other. */
  function* store(replica, notifies) {
    yield replica.pool.take;
    yield* useEngine(options.engineBatchCpu);
    if (notifies) yield notification.take;
    yield disk.flush;
    if (notifies) notification.give();
    replica.pool.give();
  }
  let turn = 0;
  const next = () => replicas[turn++ % replicas.length];
  function* arrivals(rate, begin) {
    while (events.now < end) {
      yield (-Math.log(1 - random()) * 1000) / rate;
      run(begin(next()));
    }
  }
  if (options.callers === undefined) run(arrivals(options.rate, call));
  else {
    const again = () => events.now < end && run(call(next(), again));
    for (let caller = 0; caller < options.callers; caller += 1) again();
  }
  if (options.refreshes > 0) run(arrivals(options.refreshes, refresh));
  events.runUntil(end);
  const busy = (places) => places.busyTime() / (end * places.size);
  return {
    callsPerSecond: (whole.length * 1000) / (end - warm),
    own: percentiles(own),
    whole: percentiles(whole),
    thread: Math.max(...replicas.map(({ thread }) => busy(thread))),
    engine: busy(engine),
    disk: disk.busyTime() / end,
    commitsPerSecond: (commits * 1000) / (end - warm),
    entriesPerBatch: entriesStored / commits,
    refreshes: percentiles(refreshWaits),
  };
}

/** The events of a world, in the order of their times, and a way to run a process: a generator that yields times and waits. */
function createWorld(seed) {
  let state = seed >>> 0;
  // Mulberry32: small, and the same everywhere.
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const heap = [];
  let count = 0;
  const isBefore = (one, other) => one.time < other.time || (one.time === other.time && one.order < other.order);
  const events = {
    now: 0,
    after(delay, action) {
      const event = { time: events.now + delay, order: count++, action };
      let at = heap.push(event) - 1;
      for (let parent = (at - 1) >> 1; at > 0 && isBefore(event, heap[parent]); parent = (at - 1) >> 1) {
        heap[at] = heap[parent];
        at = parent;
      }
      heap[at] = event;
    },
    runUntil(end) {
      while (heap.length > 0 && heap[0].time <= end) {
        const { time, action } = heap[0];
        const last = heap.pop();
        let at = 0;
        while (heap.length > 0) {
          let child = 2 * at + 1;
          if (child >= heap.length) break;
          if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child += 1;
          if (!isBefore(heap[child], last)) break;
          heap[at] = heap[child];
          at = child;
        }
        if (heap.length > 0) heap[at] = last;
        events.now = time;
        action();
      }
    },
  };
  const run = (process) => {
    const step = () => {
      const { done, value } = process.next();
      if (done) return;
      if (typeof value === "number") events.after(value, step);
      else value(step);
    };
    step();
  };
  return { events, run, random };
}

/** A number of places, such as processors or connections. Those who find none free wait in a line. */
function createPlaces(events, size) {
  const line = [];
  let taken = 0;
  let busy = 0;
  let since = 0;
  const count = (change) => {
    busy += taken * (events.now - since);
    since = events.now;
    taken += change;
  };
  return {
    size,
    take: (go) => {
      if (taken >= size) line.push(go);
      else {
        count(1);
        go();
      }
    },
    give() {
      const go = line.shift();
      if (go === undefined) count(-1);
      // The place goes to the first in the line, and stays taken.
      else events.after(0, go);
    },
    busyTime() {
      count(0);
      return busy;
    },
  };
}

/** A disk: one flush at a time, which all commits share that wait when it begins. */
function createDisk(events, time) {
  let waiting = [];
  let isFlushing = false;
  let busy = 0;
  const begin = () => {
    const all = waiting;
    waiting = [];
    isFlushing = all.length > 0;
    if (!isFlushing) return;
    const duration = time();
    busy += duration;
    events.after(duration, () => {
      for (const go of all) go();
      begin();
    });
  };
  return {
    flush: (go) => {
      waiting.push(go);
      if (!isFlushing) begin();
    },
    busyTime: () => busy,
  };
}

/**
 * The batches of a replica, as `Batches` of core writes them: `parallel` at the same time, and meanwhile the next one
 * fills. After each comes a pause.
 */
function createBatches(events, { most, parallel, pause = 0 }, write) {
  let waiting = [];
  let running = 0;
  const begin = () => {
    if (running >= parallel || waiting.length === 0) return;
    const batch = waiting.slice(0, most);
    waiting = waiting.slice(most);
    running += 1;
    write(batch.length, () => {
      for (const go of batch) go();
      events.after(pause, () => {
        running -= 1;
        begin();
      });
    });
  };
  return {
    add: (go) => {
      waiting.push(go);
      begin();
    },
  };
}

function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function percentiles(values) {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { median: at(0.5), p95: at(0.95), p99: at(0.99) };
}

const million = { replicas: 32, rate: 21000, refreshes: 1390, seconds: 2 };
const questions = [
  ["4 replicas, 1,000 users", { rate: 21, refreshes: 1.4, seconds: 20 }],
  ["4 replicas", { rate: 500, refreshes: 35 }],
  ["4 replicas, 100,000 users", { rate: 2100, refreshes: 139 }],
  ["same, one row a commit", { rate: 2100, refreshes: 139, mostInBatch: 1 }],
  ["same, disk 5 ms", { rate: 2100, refreshes: 139, disk: [5, 0.5] }],
  ["same, 2 connections each", { rate: 2100, refreshes: 139, pool: 2 }],
  ["4 replicas, too much", { rate: 4400, refreshes: 139 }],
  ["32 replicas, 100,000 users", { replicas: 32, rate: 2100, refreshes: 139 }],
  ["32 replicas, 1,000,000 users", million],
  ["same, notification with each sign-in", { ...million, notifies: "each" }],
  ["same, 8 cores for PostgreSQL", { ...million, engineCores: 8 }],
  ["same, disk 5 ms", { ...million, engineCores: 8, disk: [5, 0.5] }],
];

/** Prints a table: one line for each question. */
export async function bench() {
  const begin = performance.now();
  const percent = (share) => `${Math.round(share * 100)} %`;
  const milliseconds = ({ median, p95, p99 }) => [median, p95, p99].map((value) => value.toFixed(1)).join(" / ");
  const lines = questions.map(([title, options]) => {
    const figures = simulate(options);
    return [
      title,
      figures.callsPerSecond.toFixed(0),
      milliseconds(figures.own),
      percent(figures.thread),
      percent(figures.engine),
      percent(figures.disk),
      figures.commitsPerSecond.toFixed(0),
      figures.entriesPerBatch.toFixed(1),
      options.refreshes ? milliseconds(figures.refreshes) : "",
    ];
  });
  const head = [
    "",
    "calls/s",
    "own ms p50 / p95 / p99",
    "thread",
    "engine",
    "disk",
    "commits/s",
    "a batch",
    "sign-in known everywhere ms",
  ];
  const widths = head.map((_, at) => Math.max(...[head, ...lines].map((line) => line[at].length)));
  const print = (line) =>
    process.stdout.write(
      `${line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join("  ")}\n`,
    );
  for (const line of [head, ...lines]) print(line);
  process.stdout.write(
    `simulated with seed ${standard.seed} in ${((performance.now() - begin) / 1000).toFixed(1)} s\n`,
  );
  return true;
}
