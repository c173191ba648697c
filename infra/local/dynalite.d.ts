declare module 'dynalite' {
  import type { Server } from 'node:http';

  export default function dynalite(options?: {
    /** Where LevelDB keeps its files; without it, in memory. */
    path?: string;
    createTableMs?: number;
    deleteTableMs?: number;
    updateTableMs?: number;
  }): Server;
}
