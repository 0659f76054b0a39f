using Billing.Measuring;
using Billing.UnitTests.Measuring.Experiments;

namespace Billing.UnitTests.Measuring;

public sealed class MeasuredSoftwareTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-software-");

    [Fact]
    public void The_packages_that_a_payment_passes_through_are_named_with_their_versions()
    {
        var file = Write("""
            { "libraries": {
                "Billing.Backends/1.0.0": { "type": "project" }, "Marten/9.58.0": { "type": "package" },
                "Npgsql/10.0.0": { "type": "package" },
                "Polly.Core/8.9.1": { "type": "package" } } }
            """);

        var packages = MeasuredSoftware.PackagesOf(file);

        Assert.Equal([new("Marten", "9.58.0"), new("Npgsql", "10.0.0")], packages);
    }

    [Fact]
    public void Runtime_settings_come_from_the_runtimeconfig_file_and_the_environment()
    {
        var file = Write("""
            { "runtimeOptions": { "tfm": "net10.0", "configProperties": {
                "System.GC.Server": false, "System.Runtime.TieredPGO": false,
                "System.Globalization.Invariant": true } } }
            """);

        var settings = MeasuredSoftware.SettingsOf(file);

        Assert.Equal("False", settings["System.GC.Server"]);
        Assert.Equal("False", settings["System.Runtime.TieredPGO"]);
        Assert.True(settings.ContainsKey("DOTNET_GCgen0size"));
        Assert.DoesNotContain("System.Globalization.Invariant", settings.Keys);
    }

    [Fact]
    public void Without_these_files_there_are_no_packages_and_no_settings_from_a_file()
    {
        Assert.Empty(MeasuredSoftware.PackagesOf(Path.Combine(_folder.FullName, "none.deps.json")));
        Assert.DoesNotContain(
            "System.GC.Server", MeasuredSoftware.SettingsOf(Path.Combine(_folder.FullName, "none.json")).Keys);
    }

    [Fact]
    public void The_facts_of_results_name_the_machine_and_the_software() => Assert.Equal(
        ["Machine", "Commit", "Packages", "Installed Kafka", "Installed PostgreSQL", "Runtime settings"],
        Facts.Of(Example.Machine).Select(fact => fact.Name));

    public void Dispose() => _folder.Delete(recursive: true);

    private string Write(string json)
    {
        var file = Path.Combine(_folder.FullName, "file.json");
        File.WriteAllText(file, json);
        return file;
    }
}
