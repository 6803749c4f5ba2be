-- Jobs only. The run is that of `duration`, without a step log; a host map names two ranks and a spare.
--
--         0                  400       500                 1000
-- rank 0  |-- unattributed --|  queue  |-- unattributed ---|
-- rank 1  |-- unattributed --|  queue  |-- unattributed ---|
-- spare   |-- unallocated ---|  queue  |-- unallocated ----|
SELECT attempt, category, basis, gpu_ns FROM lost_time ORDER BY attempt, category, basis
