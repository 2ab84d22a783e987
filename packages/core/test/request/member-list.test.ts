import { expect, test } from "vitest";
import { type Member, MemberList } from "../../src/request/member-list.ts";

interface Named extends Member {
  readonly name: string;
}

const named = (name: string): Named => ({ name, slotNumber: 0 });

test("members are there until they are removed, in whatever order they leave", () => {
  const list = new MemberList<Named>();
  const [a, b, c, d] = [named("a"), named("b"), named("c"), named("d")];
  const names = (): readonly string[] =>
    list
      .all()
      .map(({ name }) => name)
      .toSorted();
  for (const each of [a, b, c]) list.add(each);
  list.remove(b);
  expect(names()).toEqual(["a", "c"]);
  list.remove(b);
  list.add(d);
  list.remove(c);
  expect(names()).toEqual(["a", "d"]);
  for (const each of [d, a, a]) list.remove(each);
  expect(names()).toEqual([]);
  list.add(b);
  expect(names()).toEqual(["b"]);
});
