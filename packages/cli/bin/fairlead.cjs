#!/usr/bin/env node
require("../bundle/entry.cjs");
