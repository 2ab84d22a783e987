#!/usr/bin/env node
// The command's first file.
"use strict";
const path = require("node:path");
const answers = require("../bundle/answers.cjs");
const { start } = require("./start.cjs");

start(answers, (command) => {
  const { createLoader } = require("./load.cjs");
  return createLoader(path.join(__dirname, "../bundle"), answers.build, command);
});
