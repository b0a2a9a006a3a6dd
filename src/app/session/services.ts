import { connect, type Service } from "../../service/service.ts";
import type { Io } from "../io/io.ts";
import { type Clients, openClients, type ReachOptions } from "./clients.ts";

/** The services of the merchants. */
export type Services = Clients<Service>;

/** Prepares connections to services; nothing is sent yet. */
export function openServices(options: ReachOptions, io: Io): Services {
  return openClients(connect, options, io);
}
