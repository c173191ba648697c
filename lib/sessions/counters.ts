/** Named numbers of an agent. Rejects `UnavailableError`. */
export interface Counters {
  /**
   * Adds to a counter, which starts at 0, and resolves the value that this addition came to. Atomic: no addition is
   * lost, however many add at once, and none counts twice, also where its answer was lost and it was sent again.
   */
  bump(agent: string, name: string, by: number): Promise<number>;
  get(agent: string, name: string): Promise<number>;
}
