using System.Text.Json;

namespace Billing.DeploymentTests.Terraform;

/// <summary>A temporary copy of the modules, in which Terraform runs and mistakes are planted.
/// It needs no network.</summary>
internal sealed class TerraformCopy : IAsyncDisposable
{
    private readonly string _terraform;
    private readonly string _root = Directory.CreateTempSubdirectory("billing-terraform-").FullName;
    private ProviderServer? _provider;

    private TerraformCopy(string terraform) => _terraform = terraform;

    /// <summary>The copy's folder.</summary>
    public string Folder => Path.Combine(_root, "terraform");

    /// <summary>A folder like that of ./billing package, with the release for the plans.</summary>
    public string ReleaseFolder => Path.Combine(_root, "release");

    /// <summary>Copies the modules. If Terraform is missing, the test is skipped.</summary>
    public static TerraformCopy Make()
    {
        var copy = new TerraformCopy(ExternalTool.Need("terraform"));
        foreach (var file in Repository.Files("deploy/terraform", "*").Where(IsPartOfTheModules))
        {
            var target = Path.Combine(copy._root, Path.GetRelativePath("deploy", file));
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            File.Copy(Path.Combine(Repository.Root, file), target);
        }
        Directory.CreateDirectory(copy.ReleaseFolder);
        File.WriteAllText(Path.Combine(copy.ReleaseFolder, "billing-bootstrap-1.0.0.tar.gz"), "");
        File.WriteAllText(Path.Combine(copy.ReleaseFolder, "release.auto.tfvars.json"), "{}");
        File.WriteAllText(Path.Combine(copy._root, "terraform.rc"), "");
        return copy;
    }

    /// <summary>Copies the modules and starts a provider that has AWS's schema, ready to validate and plan.</summary>
    public static async Task<TerraformCopy> MakeWithProviderAsync()
    {
        var copy = Make();
        copy._provider = await ProviderServer.StartAsync();
        return copy;
    }

    /// <summary>Replaces text in a file of the copy; the text must exist.</summary>
    public TerraformCopy Plant(string file, string old, string mistake)
    {
        var path = Path.Combine(Folder, file);
        var text = File.ReadAllText(path);
        Assert.Contains(old, text, StringComparison.Ordinal);
        File.WriteAllText(path, text.Replace(old, mistake, StringComparison.Ordinal));
        return this;
    }

    /// <summary>Runs Terraform in a module of the copy.</summary>
    public Task<ToolResult> RunAsync(string module, params IEnumerable<string> arguments) =>
        ExternalTool.RunAsync(_terraform, arguments, Path.Combine(Folder, module), new Dictionary<string, string>
        {
            ["CHECKPOINT_DISABLE"] = "1",
            ["TF_IN_AUTOMATION"] = "1",
            ["TF_CLI_CONFIG_FILE"] = Path.Combine(_root, "terraform.rc"),
            ["TF_REATTACH_PROVIDERS"] = _provider?.Reattach ?? "",
            // It ends before it would run out of memory: a fifth of its processor time collects garbage.
            ["GOGC"] = "800",
        });

    /// <summary>Compares all modules with the provider's schema.</summary>
    public async Task<ToolResult> ValidateAsync()
    {
        await InitAsync("");
        return await RunAsync("", "validate", "-no-color");
    }

    /// <summary>Tries to plan a module.</summary>
    public async Task<ToolResult> TryPlanAsync(string module, params IEnumerable<string> variables)
    {
        await InitAsync(module);
        var release = module.Length > 0 ? [] : new[]
        {
            $"release_folder={ReleaseFolder}", "release_version=1.0.0", $"bootstrap_sha256={new string('a', 64)}",
        };
        return await RunAsync(
            module,
            [
                "plan", "-input=false", "-no-color", "-lock=false", "-out=plan",
                .. release.Concat(variables).Select(variable => $"-var={variable}"),
            ]);
    }

    /// <summary>Plans a module and reads the plan.</summary>
    public async Task<TerraformPlan> PlanAsync(string module, params IEnumerable<string> variables)
    {
        (await TryPlanAsync(module, variables)).Succeeded();
        var shown = (await RunAsync(module, "show", "-json", "plan")).Succeeded();
        return new TerraformPlan(JsonDocument.Parse(shown.Output).RootElement);
    }

    /// <summary>Plans and applies all modules, which only creates a state.</summary>
    public async Task ApplyAsync(params IEnumerable<string> variables)
    {
        (await TryPlanAsync("", variables)).Succeeded();
        (await RunAsync("", "apply", "-no-color", "-lock=false", "plan")).Succeeded();
    }

    public async ValueTask DisposeAsync()
    {
        if (_provider is not null)
        {
            await _provider.DisposeAsync();
        }
        Directory.Delete(_root, recursive: true);
    }

    /// <summary>Whether a file belongs to the modules; a developer's own variables, state and
    /// downloads do not.</summary>
    private static bool IsPartOfTheModules(string file) =>
        !file.Split('/').Contains(".terraform")
        && (file.EndsWith("/.tflint.hcl", StringComparison.Ordinal) || Path.GetExtension(file) is ".tf" or ".tftpl");

    private async Task InitAsync(string module) =>
        (await RunAsync(module, "init", "-input=false", "-no-color", "-backend=false")).Succeeded();
}
