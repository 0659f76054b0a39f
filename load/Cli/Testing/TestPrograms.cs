using Billing.Cli.Monitoring;
using Billing.Cli.Setup;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Testing;

/// <summary>The small programs that some tests need. They are installed if that requires no password;
/// the tests whose programs are missing are skipped and say why.</summary>
/// <param name="installsBrowser">Whether a browser may be installed without a question.</param>
/// <param name="ask">Asks a person a question; null if there is no terminal.</param>
internal sealed class TestPrograms(
    Workspace workspace, Installer installer, bool installsBrowser, Func<string, string?>? ask)
{
    private static readonly (string Jar, string Package)[] JavaLibraries =
    [
        ("grpc-netty", "libgrpc-java"), ("protobuf-util", "libprotobuf-java"),
        ("proto-google-common-protos", "libgoogle-common-protos-java"),
        ("netty-codec-http2", "libnetty-java"), ("guava", "libguava-java"), ("perfmark-api", "libperfmark-java"),
        ("geronimo-annotation-1.3-spec", "libgeronimo-annotation-1.3-spec-java"),
    ];

    private SystemPrograms Machine => installer.Machine;

    public async Task InstallAsync(IReadOnlyCollection<string> names, CancellationToken cancellationToken)
    {
        if (names.Contains("Billing.IntegrationTests"))
        {
            // First, since it may ask.
            await BrowserAsync(cancellationToken);
            await TryAsync("a backend in Python", "to test a backend in Python", cancellationToken,
                (!Path.Exists("/usr/lib/python3/dist-packages/confluent_kafka"), "python3-confluent-kafka"),
                (!Path.Exists("/usr/lib/python3/dist-packages/google/protobuf"), "python3-protobuf"),
                (Lacks("protoc"), "protobuf-compiler"),
                (!File.Exists("/usr/include/google/protobuf/timestamp.proto"), "libprotobuf-dev"));
            await JavaLibrariesAsync(cancellationToken);
        }
        if (names.Contains("Billing.ChaosTests"))
        {
            var lacksCompiler = !File.Exists("/usr/bin/cc") || !File.Exists("/usr/include/stdlib.h");
            await TryAsync(
                "a C compiler", "to test clocks that step", cancellationToken,
                (lacksCompiler, "gcc"), (lacksCompiler, "libc6-dev"));
        }
        if (names.Contains("Billing.ChaosTests"))
        {
            await TryAsync(
                "Patroni", "to test servers that take over from each other",
                cancellationToken, (Lacks("patroni"), "patroni"));
            await UnpackAsync(
                FailoverPrograms.EtcdVariable, UnpackedPackage.Etcd(installer, workspace.Cache), cancellationToken);
        }
        if (names.Contains("Billing.DeploymentTests"))
        {
            await TryAsync(
                "pgBackRest", "to test backups of the database", cancellationToken,
                (Machine.IsRoot && Lacks("pgbackrest"), "pgbackrest"));
            await TryAsync(
                "shellcheck", "to check shell scripts", cancellationToken, (Lacks("shellcheck"), "shellcheck"));
            // The tests of the rehearsal's network run as root only.
            await TryAsync("the network's programs", "to test the rehearsal's network", cancellationToken,
                (Machine.IsRoot && Lacks("nft"), "nftables"), (Machine.IsRoot && Lacks("ip"), "iproute2"),
                (Machine.IsRoot && Lacks("sysctl"), "procps"));
        }
        if (names.Contains("Billing.DeploymentTests") || names.Contains("Billing.IntegrationTests"))
        {
            await UnpackAsync(
                LocalPrometheus.FolderVariable,
                UnpackedPackage.Prometheus(installer, workspace.Cache), cancellationToken);
        }
    }

    // Some 8 MB; a compiler for Java, which is ten times as large, is not installed for one test.
    private async Task JavaLibrariesAsync(CancellationToken cancellationToken)
    {
        if (!Lacks("javac"))
        {
            await TryAsync("a client in Java", "to test a client in Java", cancellationToken,
                [
                    (Lacks("grpc_java_plugin"), "protobuf-compiler-grpc-java-plugin"),
                    .. JavaLibraries.Select(
                        library => (!File.Exists($"/usr/share/java/{library.Jar}.jar"), library.Package)),
                ]);
        }
    }

    private static async Task UnpackAsync(string variable, UnpackedPackage package, CancellationToken cancellationToken)
    {
        try
        {
            Environment.SetEnvironmentVariable(variable, await package.EnsureAsync(cancellationToken));
        }
        catch (Exception e) when (e is StackException or IOException)
        {
            Messages.Say(e.Message);
            Messages.Say($"continuing without {package.Name}");
        }
    }

    internal async Task BrowserAsync(CancellationToken cancellationToken)
    {
        string[] missing =
        [
            .. Lacks("chromium") ? ["chromium"] : (string[])[], .. Lacks("npm") ? ["nodejs", "npm"] : (string[])[],
        ];
        if (missing.Length > 0 && !(await WantsBrowserAsync(missing, cancellationToken)
            && await installer.TryInstallAsync("to test the live page in a browser", missing, cancellationToken)))
        {
            Messages.Say($"continuing without {string.Join(' ', missing)}");
            return;
        }
        await BrowserDriverAsync(cancellationToken);
    }

    private async Task BrowserDriverAsync(CancellationToken cancellationToken)
    {
        var folder = Path.Combine(workspace.Root, "tests", "Billing.IntegrationTests", "browser");
        var installed = Path.Combine(folder, "node_modules", ".package-lock.json");
        if (Lacks("npm")
            || File.GetLastWriteTimeUtc(
                installed) > File.GetLastWriteTimeUtc(Path.Combine(folder, "package-lock.json")))
        {
            return;
        }
        try
        {
            await Progress.RunAsync(
                "installing the browser driver", Path.Combine(workspace.State, "npm.log"), new Tool("npm"),
                ["ci", "--no-audit", "--no-fund", "--prefix", folder], "npm ci failed", cancellationToken);
        }
        catch (StackException e)
        {
            Messages.Say(e.Message);
            Messages.Say("continuing without the browser driver");
        }
    }

    // Packages of this size are installed on request, or if the user agrees.
    private async Task<bool> WantsBrowserAsync(string[] packages, CancellationToken cancellationToken)
    {
        if (installsBrowser || !await installer.CanInstallAsync(cancellationToken))
        {
            return true;
        }
        var names = string.Join(' ', packages);
        if (ask is null)
        {
            Messages.Say(
                $"missing: {names} (to test the live page in a browser; "
                + "./billing test --install installs them, about 500 MB)");
            return false;
        }
        return ask($"billing: install {names} to test the live page in a browser? It takes about 500 MB [y/N] ") is ['y'
            or 'Y', ..];
    }

    private async Task TryAsync(
        string what, string why, CancellationToken cancellationToken,
        params (bool IsMissing, string Package)[] packages)
    {
        var missing = packages.Where(package => package.IsMissing).Select(package => package.Package).ToList();
        if (missing.Count > 0 && !await installer.TryInstallAsync(why, missing, cancellationToken))
        {
            Messages.Say("continuing without " + what);
        }
    }

    private bool Lacks(string program) => Machine.Find(program) is null;
}
