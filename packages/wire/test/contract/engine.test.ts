/** Our engine keeps the contract. */

import { describe } from "vitest";
import { connect } from "../../src/index.ts";
import { describeSession } from "./describe-session.ts";
import { legs } from "./legs.ts";

describe.concurrent.each(legs)("$transport, $era", (leg) => {
  describeSession({ name: "our engine", open: connect, differs: new Set() }, leg);
});
