import { apiHandler } from '../http-handler.ts';
import { listErrors } from './errors.ts';
import { runOperations } from './operations.ts';
import { getJobs, getRun, getRuns, postRun } from './runs.ts';
import { listSchedules } from './schedules.ts';

export const handler = apiHandler('runs', runOperations, {
  'start-run': postRun,
  'list-runs': getRuns,
  'get-run': getRun,
  'list-jobs': getJobs,
  'list-schedules': listSchedules,
  'list-errors': listErrors,
});
