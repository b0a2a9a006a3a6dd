#!/usr/bin/env node
import { chunkLoader, imageFolder } from "./start/chunks.ts";

const dist = import.meta.dirname;
chunkLoader({ folder: dist, images: imageFolder(dist) })("./program.js");
