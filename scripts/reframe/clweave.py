# SPDX-License-Identifier: Apache-2.0
"""clweave: a ReFrame test of the GPU that a job gets: every output right, no family slower than its reference allows.

    clweave run --preset profile --device gpu --csv good-1.csv    # some sessions of good GPUs
    clweave health good-*.csv --emit-reference h200.json
    reframe -c scripts/reframe/clweave.py -r -S reference_file=$PWD/h200.json

Performance variables are the families, each as times the reference's time; what is allowed is the reference file's.
Without a reference file they are the measured peaks, in GB/s and Gop/s, of which a site may set `reference` itself.
Other variables, by -S NAME=VALUE: program, options (of clweave run, with commas), budget. Where that ends before all
cases what was measured counts, if it is enough to judge a family by.
"""
import csv
import json
import os
import shlex

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import deferrable, run_before, sanity_function, variable


@rfm.simple_test
class ClweaveCheck(rfm.RunOnlyRegressionTest):
    descr = 'clweave: outputs, copies, arithmetic, latencies of an OpenCL device'
    valid_systems = ['*']
    valid_prog_environs = ['*']

    program = variable(str, value='clweave')
    options = variable(typ.List[str], value=['--preset', 'profile', '--device', 'gpu'])
    budget = variable(str, value='60s')
    reference_file = variable(str, value='')

    @run_before('run')
    def measure(self):
        # ReFrame puts words into a shell's script as they are.
        self.executable = shlex.quote(self.program)
        # --overwrite: a stage directory may be used again.
        words = ['run', *self.options, '--budget', self.budget, '--csv', 'rows.csv', '--overwrite']
        self.executable_opts = [shlex.quote(word) for word in words]
        if self.reference_file:
            health = [self.program, 'health', 'rows.csv', '--reference', os.path.abspath(self.reference_file), '--jsonl']
            self.postrun_cmds = [shlex.join(health) + ' >health.jsonl || true']

    # Returns whether the budget ended the run, whose file then has no footer.
    def ended_by_budget(self):
        with open(os.path.join(self.stagedir, sn.evaluate(self.stderr))) as file:
            return any(line.startswith('clweave: the budget of ') for line in file)

    # Returns the rows without the footer.
    @deferrable
    def rows(self):
        with open(os.path.join(self.stagedir, 'rows.csv'), newline='') as file:
            rows = list(csv.DictReader(file))
        if self.ended_by_budget():
            return rows
        sn.evaluate(sn.assert_true(rows and rows[-1]['schema'] == '#end', 'rows.csv has no footer: clweave did not finish'))
        sn.evaluate(sn.assert_eq(int(rows[-1]['run_id']), len(rows) - 1, 'rows.csv lacks rows'))
        return rows[:-1]

    # Known-incorrect kernels are wrong on purpose, and a busy host makes times implausible: neither fails the GPU.
    @sanity_function
    def every_output_is_right(self):
        bad = [f"{row['case_id']}: {row['status']} {row['reason']}" for row in self.rows().evaluate()
               if row['status'] not in ('ok', 'unsupported', 'implausible') and not row['known_incorrect']]
        measured = [row for row in self.rows().evaluate() if row['status'] == 'ok' and row['time_s']]
        unknown = [f"{metric['family']}: {metric['reason']}" for metric in self.metrics()
                   if metric['verdict'] == 'not measured']
        if self.ended_by_budget() and len(unknown) < len(self.metrics()):
            unknown = []
        return sn.all([sn.assert_false(bad, f'{len(bad)} cases failed: ' + '; '.join(bad[:3])),
                       sn.assert_true(measured, 'no case was measured'),
                       sn.assert_false(unknown, 'not measured: ' + '; '.join(unknown))])

    # Returns the verdict of clweave health on each family.
    def metrics(self):
        if not self.reference_file:
            return []
        with open(os.path.join(self.stagedir, 'health.jsonl')) as file:
            metrics = [json.loads(line) for line in file]
        sn.evaluate(sn.assert_true(metrics, f'{self.reference_file} does not fit: rfm_job.err says why'))
        return metrics

    @run_before('performance')
    def hold_against_the_reference(self):
        self.perf_variables = {}
        if not self.reference_file:
            for peak, best in self.peaks().items():
                self.perf_variables[peak] = sn.make_performance_function(
                    sn.defer(best), 'Gop/s' if peak.startswith('arithmetic') else 'GB/s')
            return
        bounds = {}
        for metric in self.metrics():
            if metric['verdict'] == 'not measured':
                continue
            self.perf_variables[metric['family']] = sn.make_performance_function(sn.defer(metric['ratio']), 'x')
            bounds[metric['family']] = (1.0, None, metric['allowed'] - 1, 'x')
        self.reference = {self.current_partition.fullname: bounds}

    # Returns the best rate of each measured peak.
    def peaks(self):
        best = {}
        for row in self.rows().evaluate():
            if row['family'] != 'peak' or row['status'] != 'ok' or not row['peak']:
                continue
            rate = row['gflop_per_s' if row['peak'].startswith('arithmetic') else 'gb_per_s']
            if rate:
                best[row['peak']] = max(best.get(row['peak'], 0), float(rate))
        return best
