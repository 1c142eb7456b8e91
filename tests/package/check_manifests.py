# SPDX-License-Identifier: Apache-2.0
"""check_manifests: what cmake/packages makes for package managers and the Phoronix Test Suite can be read by their formats,
names the release's version and hashes, and lists every library that the build looks for; the GitHub Action comments

    check_manifests.py CMAKE CLWEAVE SOURCE SCRATCH

Ends with 77, some not read, where PyYAML is missing.
"""
import csv
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
import xml.etree.ElementTree as xml

try:
    import yaml
except ImportError:
    yaml = None

cmake, clweave = sys.argv[1], str(pathlib.Path(sys.argv[2]).resolve())
source, scratch = pathlib.Path(sys.argv[3]).resolve(), pathlib.Path(sys.argv[4]).resolve()
archives, out = scratch / 'archives', scratch / 'out'
results = scratch / 'baselines.csv'
homepage = 'https://github.com/somebody/clweave'
manifests = {'winget/clweave.clweave.yaml', 'winget/clweave.clweave.locale.en-US.yaml',
             'winget/clweave.clweave.installer.yaml', 'homebrew/clweave.rb', 'conda/recipe.yaml', 'arch/PKGBUILD',
             'spack/package.py', 'phoronix/downloads.xml', 'phoronix/test-definition.xml',
             'phoronix/results-definition.xml', 'phoronix/install.sh'}


def expect(condition, words):
    if not condition:
        sys.exit(words)


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    return done.returncode, re.sub(r'\s+', ' ', done.stdout + done.stderr)


def succeeds(*words, **options):
    code, said = run(*words, **options)
    expect(code == 0, f'{words} ends with {code}: {said}')
    return said


def make(url=homepage):
    return run(cmake, f'-DARCHIVES={archives}', f'-DHOMEPAGE={url}', '-DMAINTAINER=Some Body <some@example.org>',
               f'-DOUT={out}', '-P', source / 'cmake/packages/make.cmake')


def made():
    return {str(file.relative_to(out)) for file in out.rglob('*') if file.is_file()}


def read(name):
    return (out / name).read_text()


# Stands for the program: prints what the real one says of measured results, without measuring.
def stand_in(file):
    file.write_text(f'''#!/bin/sh
echo "$*" >>{scratch}/called
case $1 in
run) while [ $# -gt 1 ]; do if [ "$1" = --csv ]; then cp "$RESULTS" "$2"; fi; shift; done; exit 1 ;;
*) exec {clweave} "$@" ;;
esac
''')
    file.chmod(0o755)


version = succeeds(clweave, '--version').split()[0]
shutil.rmtree(scratch, ignore_errors=True)
archives.mkdir(parents=True)
names = {'source': f'clweave-{version}.tar.gz', 'linux': f'clweave-{version}-linux-x86_64.tar.gz',
         'windows': f'clweave-{version}-windows-x86_64.zip'}
stand_in(scratch / 'clweave')
with tarfile.open(archives / names['linux'], 'w:gz') as tar:
    tar.add(scratch / 'clweave', f'clweave-{version}-linux-x86_64/bin/clweave')

# What is needed and missing.
code, said = make('https://example.org')
expect(code != 0 and 'is not of the form https://github.com/OWNER/clweave' in said, f'a wrong homepage is taken: {said}')
code, said = make()
expect(code == 0 and f'winget: left out, as {archives} has no {names["windows"]}' in said, f'no word of what is left out: {said}')
expect(made() == {name for name in manifests if name.startswith('phoronix/')}, f'made of one archive: {made()}')
for kind in ('source', 'windows'):
    (archives / names[kind]).write_bytes(kind.encode())
code, said = make()
expect(code == 0, f'make.cmake ends with {code}: {said}')
expect(made() == manifests, f'made: {sorted(made())}')

# ---- All of them.
for name in manifests:
    text = read(name)
    left = re.search(r'@[A-Za-z_]+@', text)
    expect(not left, f'{name} still has {left and left[0]}')
hash_of = {kind: hashlib.sha256((archives / name).read_bytes()).hexdigest() for kind, name in names.items()}
place_of = {'winget/clweave.clweave.installer.yaml': 'windows', 'phoronix/downloads.xml': 'linux'}
for name in ('homebrew/clweave.rb', 'conda/recipe.yaml', 'arch/PKGBUILD', 'spack/package.py', *place_of):
    kind = place_of.get(name, 'source')
    for wanted in (hash_of[kind], f'{homepage}/releases/download/v{version}/{names[kind]}', version):
        expect(wanted in read(name), f'{name} has no {wanted}')

# ---- Every library that the build looks for, where it is built from its sources.
sought = set(re.findall(r'find_package\((\w+) REQUIRED\)', (source / 'CMakeLists.txt').read_text()))
sought |= set(re.findall(r'find_path\(\w+ ([\w./+]+) REQUIRED\)', (source / 'CMakeLists.txt').read_text()))
sought |= set(re.search(r'set\(plain ([^)]*)\)', (source / 'CMakeLists.txt').read_text())[1].split())
expect(len(sought) >= 8, f'the libraries of CMakeLists.txt cannot be read: {sought}')
named = {'CL/opencl.hpp': 'clhpp', 'toml++/toml.h': 'tomlplusplus', 'nlohmann_json': 'nlohmann.json', 'Threads': ''}
for name in ('homebrew/clweave.rb', 'conda/recipe.yaml', 'arch/PKGBUILD', 'spack/package.py'):
    for library in sought:
        expect(re.search(named.get(library, library.lower()), read(name)), f'{name} does not name the library {library}')

# ---- Each in its language.
compile(read('spack/package.py'), 'package.py', 'exec')
for name in ('arch/PKGBUILD', 'phoronix/install.sh'):
    succeeds('bash', '-n', out / name)
fields = succeeds('bash', '-c', 'source "$0" && echo $pkgname $pkgver ${sha256sums[0]} && declare -F build package',
                  out / 'arch/PKGBUILD')
expect(fields.split() == ['clweave', version, hash_of['source'], 'build', 'package'], f'PKGBUILD: {fields}')
if shutil.which('ruby'):
    succeeds('ruby', '-c', out / 'homebrew/clweave.rb')
trees = {name: xml.fromstring(read(name)) for name in manifests if name.endswith('.xml')}
action = source / '.github/actions/clweave'
if yaml:
    recipe = yaml.safe_load(read('conda/recipe.yaml'))
    expect(recipe['package'] == {'name': 'clweave', 'version': version}, f'recipe: {recipe["package"]}')
    expect(set(recipe) >= {'schema_version', 'source', 'build', 'requirements', 'tests', 'about', 'extra'}, f'recipe: {recipe}')
    common = {'PackageIdentifier': 'clweave.clweave', 'PackageVersion': version, 'ManifestVersion': '1.10.0'}
    keys = {'version': {'DefaultLocale'}, 'installer': {'Installers', 'InstallerType', 'NestedInstallerFiles'},
            'defaultLocale': {'PackageLocale', 'Publisher', 'PackageName', 'License', 'ShortDescription'}}
    for name in manifests:
        if name.startswith('winget/'):
            manifest = yaml.safe_load(read(name))
            wanted = keys.pop(manifest['ManifestType'])
            expect(manifest.items() >= common.items() and manifest.keys() >= wanted, f'{name}: {manifest}')
    steps = yaml.safe_load((action / 'action.yml').read_text())
    given = {name for step in steps['runs']['steps'] for name in re.findall(r'inputs\.([\w-]+)', str(step))}
    expect(given == set(steps['inputs']), f'action.yml has inputs {set(steps["inputs"])} and uses {given}')
    taken = set(re.findall(r'(?:\$\{?|<= )([A-Z_]+)', (action / 'compare').read_text()))
    passed = set(steps['runs']['steps'][-1]['env']) | {'RUNNER_TEMP', 'GITHUB_REPOSITORY', 'GITHUB_STEP_SUMMARY'}
    expect(taken | {'GH_TOKEN'} == passed, f'compare reads {taken}, and action.yml passes {passed}')

# ---- Phoronix Test Suite: installs, measures, and finds every result in what the program prints.
home = scratch / 'home'
home.mkdir()
with zipfile.ZipFile(source / 'results/nvidia-h100/quick.zip') as archive:
    header, *rows = csv.reader(io.StringIO(archive.read('quick.csv').decode()))
rows = [row for row in rows if row[header.index('family')] in ('latency', 'peak', 'transfer')]
with open(scratch / 'profiled.csv', 'w', newline='') as file:
    csv.writer(file, lineterminator='\n').writerows([header, *rows, ['#end', len(rows)] + [''] * (len(header) - 2)])
shutil.copy(archives / names['linux'], home)
environment = {**os.environ, 'HOME': str(home), 'LOG_FILE': str(home / 'log'), 'RESULTS': str(scratch / 'profiled.csv')}
succeeds('sh', out / 'phoronix/install.sh', cwd=home, env=environment)
succeeds('./clweave', '--device', 'gpu', cwd=home, env=environment)
for file in ('install-exit-status', 'test-exit-status'):
    expect((home / file).read_text() == '0\n', f'{file}: {(home / file).read_text()}')
lines = (home / 'log').read_text().splitlines()
parsers = trees['phoronix/results-definition.xml'].findall('ResultsParser')
for parser in parsers:
    template, hint, scale = (parser.findtext(key) for key in ('OutputTemplate', 'LineHint', 'ResultScale'))
    found = [line.split() for line in lines if hint in line]
    expect(len(found) == 1, f'{len(found)} lines have "{hint}"')
    value = found[0][template.split().index('#_RESULT_#')]
    expect(re.fullmatch(r'[0-9.e+]+', value) and scale in found[0], f'no {scale} of {hint}: {found[0]}')

# ---- The GitHub Action: the base's kernels beside those of the pull request, and one comment that is replaced.

def git(*words, cwd):
    return succeeds('git', '-c', 'user.name=a', '-c', 'user.email=a@example.org', *words, cwd=cwd).strip()


repository, tools, temporary = scratch / 'repository', scratch / 'tools', scratch / 'temporary'
for folder in (repository, tools, temporary):
    folder.mkdir()
shutil.copy(scratch / 'clweave', tools)
git('init', '-q', cwd=repository)
(repository / 'other').touch()
git('add', '.', cwd=repository)
git('commit', '-qm', 'first', cwd=repository)
before = git('rev-parse', 'HEAD', cwd=repository)
shutil.copy(source / 'examples/saxpy.cl', repository)
git('add', '.', cwd=repository)
git('commit', '-qm', 'second', cwd=repository)
(tools / 'gh').write_text(f'#!/bin/sh\necho "$*" >>{scratch}/gh\ncase $* in *--paginate*) cat {scratch}/comments ;; esac\n')
(tools / 'gh').chmod(0o755)
with zipfile.ZipFile(source / 'results/nvidia-h200/baselines.zip') as archive:
    results.write_bytes(archive.read('baselines.csv'))
inputs = {**os.environ, 'PATH': f'{tools}:{os.environ["PATH"]}', 'RESULTS': str(results), 'KERNELS': 'saxpy.cl',
          'PRESET': 'smoke', 'OPTIONS': '--device cpu', 'BASELINE': '', 'SESSIONS': '2', 'FAIL_ON': '', 'COMMENT': 'true',
          'PULL_REQUEST': '7', 'GITHUB_REPOSITORY': 'somebody/clweave', 'RUNNER_TEMP': str(temporary),
          'GITHUB_STEP_SUMMARY': str(scratch / 'summary')}


# comments(BASE, IDS): how clweave and gh were called, and the summary; IDS are of the comments that GitHub has.
def comments(base, ids, **other):
    for name in ('called', 'gh', 'summary'):
        (scratch / name).unlink(missing_ok=True)
    (scratch / 'comments').write_text(ids)
    succeeds(action / 'compare', cwd=repository, env={**inputs, 'BASE': base, **other})
    calls = (scratch / 'called').read_text().splitlines()
    gh = (scratch / 'gh').read_text().splitlines() if (scratch / 'gh').exists() else []
    return [call.replace(f'{temporary}/clweave/', '') for call in calls], gh, (scratch / 'summary').read_text()


run_of = 'run saxpy.cl --preset smoke --device cpu --csv {}-{}.csv'.format
calls, gh, summary = comments(git('rev-parse', 'HEAD', cwd=repository), '')
expect(calls == [run_of('base', 1), run_of('here', 1), run_of('base', 2), run_of('here', 2),
                 'compare-runs base-1.csv base-2.csv --against here-1.csv here-2.csv --markdown'], f'called: {calls}')
expect(re.search('[0-9]+ cases compared', summary), f'the summary has no comparison: {summary}')
expect(len(gh) == 2 and 'issues/7/comments --field' in gh[1] and 'PATCH' not in gh[1], f'gh is called as {gh}')
calls, gh, summary = comments(before, '12\n')
expect(calls == [run_of('here', 1), run_of('here', 2), 'show here-1.csv here-2.csv --markdown'], f'called: {calls}')
expect(len(gh) == 2 and 'PATCH repos/somebody/clweave/issues/comments/12 --field' in gh[1], f'gh is called as {gh}')
calls, gh, summary = comments('', '', PULL_REQUEST='', BASELINE=str(results), SESSIONS='1', FAIL_ON='slower:5%')
expect(calls == [run_of('here', 1), f'compare-runs {results} --against here-1.csv --fail-on slower:5% --markdown'],
       f'called: {calls}')
expect(not gh, f'gh is called without a pull request: {gh}')

print(f'{len(manifests)} manifests, {len(parsers)} results, 3 comparisons')
if not yaml:
    print('PyYAML is not here: YAML was not read')
    sys.exit(77)
