import { DormouseError } from '../errors.ts';

/** A definition that contradicts itself; the message names the agent and the field. */
export class InvalidDefinitionError extends DormouseError {
  readonly code = 'invalid_definition';
}
