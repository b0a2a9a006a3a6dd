#!/usr/bin/env node
import { chunkLoader, imagesIn } from "./start/chunks.ts";

const dist = import.meta.dirname;
chunkLoader({ folder: dist, images: imagesIn(dist) })("./program.js");
