import { expect, test } from "vitest";
import { type HostAnswer, mostAskedHosts, WantedHosts } from "../../src/sandbox/wanted-hosts.ts";

interface Asked {
  readonly host: string;
  readonly answer: (answer: HostAnswer) => void;
}

/** Programs of one server whose questions the test answers. */
function askedHosts() {
  const asked: Asked[] = [];
  const hosts = new WantedHosts();
  const begin = () =>
    hosts.begin(
      (host, signal, earlier) =>
        new Promise((answer, fail) => {
          if (earlier !== undefined) return answer(earlier);
          asked.push({ host, answer });
          signal.addEventListener("abort", () => fail(signal.reason));
        }),
    );
  return { asked, hosts, begin };
}

const patient = new AbortController().signal;
const turn = () => new Promise((done) => setImmediate(done));

test("a yes and a no count until the program ends, and another program asks again", async () => {
  const { asked, begin } = askedHosts();
  const program = begin();
  const [first, second] = [program.allows("a.example:443", patient), program.allows("a.example:443", patient)];
  asked[0]?.answer("yes");
  expect([await first, await second, await program.allows("a.example:443", patient)]).toEqual([true, true, true]);
  const refused = program.allows("b.example:443", patient);
  await turn();
  asked[1]?.answer("no");
  expect([await refused, await program.allows("b.example:443", patient)]).toEqual([false, false]);
  expect(asked.map(({ host }) => host)).toEqual(["a.example:443", "b.example:443"]);
  program.close();
  const next = begin();
  void next.allows("b.example:443", patient);
  await turn();
  expect(asked).toHaveLength(3);
  next.close();
});

test("a connection that waits no longer is refused, and an answer that comes later counts for the next one", async () => {
  const { asked, begin } = askedHosts();
  const program = begin();
  const waiting = new AbortController();
  const first = program.allows("a.example:443", waiting.signal);
  waiting.abort();
  expect(await first).toBe(false);
  asked[0]?.answer("yes");
  expect(await program.allows("a.example:443", patient)).toBe(true);
  expect(asked).toHaveLength(1);
  program.close();
});

test("one question of a server is open at a time, also of several programs", async () => {
  const { asked, begin } = askedHosts();
  const [one, other] = [begin(), begin()];
  const answers = [one.allows("a.example:443", patient), other.allows("b.example:443", patient)];
  await turn();
  expect(asked.map(({ host }) => host)).toEqual(["a.example:443"]);
  asked[0]?.answer("no");
  await turn();
  expect(asked.map(({ host }) => host)).toEqual(["a.example:443", "b.example:443"]);
  asked[1]?.answer("yes");
  expect(await Promise.all(answers)).toEqual([false, true]);
  one.close();
  other.close();
});

test(`a program that wants 10000 hosts causes ${mostAskedHosts} questions`, async () => {
  let count = 0;
  const program = new WantedHosts().begin(async () => {
    count += 1;
    return "no";
  });
  const wanted = Array.from({ length: 10_000 }, (_, at) =>
    program.allows(`n${at}.example:443`, new AbortController().signal),
  );
  expect(new Set(await Promise.all(wanted))).toEqual(new Set([false]));
  expect(count).toBe(mostAskedHosts);
  program.close();
});

test("a program that ends leaves no question, and none is asked for it", async () => {
  const { asked, begin } = askedHosts();
  const program = begin();
  const first = program.allows("a.example:443", patient);
  const second = program.allows("b.example:443", patient);
  program.close();
  expect([await first, await second, await program.allows("c.example:443", patient)]).toEqual([false, false, false]);
  expect(asked).toHaveLength(1);
});

test("refused hosts are listed since the server started, until the user allows them", () => {
  const hosts = new WantedHosts();
  const first = hosts.begin(undefined);
  const [a, b] = ["a", "b"].map((name) => ({ host: `${name}.example:443`, reason: "not listed", mayAllow: true }));
  for (const refused of [a, b]) if (refused) hosts.noteRefused(refused);
  hosts.allow("a.example:443");
  expect(hosts.refused).toEqual([b]);
  first.close();
  expect(hosts.refused).toHaveLength(1);
  hosts.begin(undefined).close();
  expect(hosts.refused).toEqual([]);
});
